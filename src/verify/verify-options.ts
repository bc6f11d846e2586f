export interface VerifyOptions {
  /** Also compare with a database: true for `<job>.duckdb` beside the runs folder, or its path. */
  readonly duckdb?: boolean | string;
  /** What DuckDB may use, such as `800MB`. */
  readonly memory?: string;
  /** Ends the verification; its reason is what it rejects with. */
  readonly signal?: AbortSignal;
  /** Filled while the verification goes on. */
  readonly tally?: VerifyTally;
}

/** How far a verification is. */
export interface VerifyTally {
  /** What is being done, in a word or two. */
  step: string;
  /** Bytes to go through, and those of them that are done: every file once for its hash and once for its rows. */
  expected: number;
  done: number;
}

/** A tally of nothing yet. */
export function emptyVerifyTally(): VerifyTally {
  return { step: "starting", expected: 0, done: 0 };
}

/** The options with their defaults. */
export function withVerifyDefaults(options: VerifyOptions): Required<VerifyOptions> {
  return {
    duckdb: options.duckdb ?? false,
    memory: options.memory ?? "800MB",
    signal: options.signal ?? new AbortController().signal,
    tally: options.tally ?? emptyVerifyTally(),
  };
}
