import { emptyReadTally, type ReadTally } from "../read-tally.js";

export interface VerifyOptions {
  /** Also compare with a database: true for `<job>.duckdb` beside the runs folder, or its path. */
  readonly duckdb?: boolean | string;
  /** The most memory that DuckDB may use, such as `800MB`. */
  readonly memory?: string;
  /** Ends the verification; its reason is what it rejects with. */
  readonly signal?: AbortSignal;
  /** Filled while the verification goes on. */
  readonly tally?: ReadTally;
}

/** The options with their defaults. */
export function withVerifyDefaults(options: VerifyOptions): Required<VerifyOptions> {
  return {
    duckdb: options.duckdb ?? false,
    memory: options.memory ?? "800MB",
    signal: options.signal ?? new AbortController().signal,
    tally: options.tally ?? emptyReadTally(),
  };
}
