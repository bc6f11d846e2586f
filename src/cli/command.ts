import type { Argv } from "yargs";
import type { World } from "./world.js";

/** One command of the program: a file each. */
export interface Command {
  /** With its arguments, as yargs writes them: `run [job]`. */
  readonly name: string;
  readonly about: string;
  /** Adds the command; its handler calls `done` with the exit code, or throws one of the errors of errors.ts. */
  readonly register: (yargs: Argv, world: World, done: (exitCode: number) => void) => Argv;
}
