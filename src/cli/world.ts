import type { CommitState } from "../run/setting/run-options.js";
import type { Output } from "../terminal/view.js";

/** The process as the commands see it; only main.ts knows the real one. */
export interface World {
  /** The words that start the program once more; absent: `kbdump`. */
  readonly program?: string;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Absent: nothing can be read from it. */
  readonly stdin?: AsyncIterable<string | Uint8Array> & { readonly isTTY?: boolean };
  readonly env: NodeJS.ProcessEnv;
  /** Aborted with an InterruptedError by SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
  /** How far the publication is: a signal that ends the program at once must not tell otherwise. */
  readonly committing: (state: CommitState) => void;
}
