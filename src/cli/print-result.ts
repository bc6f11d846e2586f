import { StopError } from "../errors.js";
import { describeError } from "./describe-error.js";
import type { World } from "./world.js";

/**
 * Prints the result of a command. Rejects with StopError when stdout cannot take it, on a full disk, say; `achieved` then
 * tells what is done nevertheless: `the run is published in …`. Whoever stops reading, as `| head` does, has had enough.
 */
export async function printResult({ stdout }: Pick<World, "stdout">, text: string, achieved?: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    stdout.write(`${text}\n`, (error) => {
      if (error && !("code" in error && error.code === "EPIPE")) reject(unwritten(error, achieved));
      else resolve();
    });
  });
}

/** The error of a stdout that could not be written. */
export function unwritten(error: Error, achieved?: string): StopError {
  const what = `the result could not be written to stdout: ${describeError(error).message}`;
  return new StopError(achieved === undefined ? what : `${achieved}, but ${what}`, { cause: error });
}
