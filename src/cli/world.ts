import type { Terminal } from "../dialogue/dialogue.js";
import type { InterruptedError } from "../errors.js";
import type { CommitState } from "../job/open-service.js";
import type { Output } from "../terminal/view.js";

/** The process as the commands see it; only main.ts knows the real one. */
export interface World {
  /** The words that start the program once more, such as `kbdump`; they depend on the current folder. */
  readonly program: () => string;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Opens stdin; absent: nothing can be read from it. */
  readonly openStdin?: () => AsyncIterable<string | Uint8Array> & { readonly isTTY?: boolean };
  /** Opens the terminal of somebody to ask; absent where stdin or stderr is none. */
  readonly openTerminal?: (() => Terminal) | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** The command line, after the name of the program. */
  readonly args: readonly string[];
  /** Aborted with an InterruptedError by SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
  /** Ends the command as a signal does. */
  readonly interrupt: (error: InterruptedError) => void;
  /** How far the publication is: a signal that ends the program at once must not tell otherwise. */
  readonly committing: (state: CommitState) => void;
}
