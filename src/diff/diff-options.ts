import { emptyReadTally, type ReadTally } from "../read-tally.js";
import type { ChunkChange } from "./run-diff.js";

export interface DiffOptions {
  /** Told of every chunk and child chunk that differs: what a re-index lost first, what was made by hand before the rest. */
  readonly onChange?: (change: ChunkChange) => void | Promise<void>;
  /** Compare the words of what changed, too; `lost`: only of edits that a re-index undid. */
  readonly text?: boolean | "lost";
  /** The most memory that DuckDB may use, such as `800MB`. */
  readonly memory?: string;
  /** Ends the comparison; its reason is what it rejects with. */
  readonly signal?: AbortSignal;
  /** Filled while it goes on. */
  readonly tally?: ReadTally;
}

export type DiffSetting = Required<Omit<DiffOptions, "onChange">>;

/** The options with their defaults. */
export function withDiffDefaults(options: DiffOptions): DiffSetting {
  return {
    text: options.text ?? false,
    memory: options.memory ?? "800MB",
    signal: options.signal ?? new AbortController().signal,
    tally: options.tally ?? emptyReadTally(),
  };
}
