import { StopError, UntoldError } from "../errors.js";
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

/** Characters that are collected before they are written. */
const block = 65_536;

/** The same for a result that comes in pieces; memory stays small however many there are. */
export async function printPieces({ stdout }: Pick<World, "stdout">, pieces: AsyncIterable<string>): Promise<void> {
  let text = "";
  for await (const piece of pieces) {
    text += piece;
    if (text.length < block) continue;
    if (!(await isTaken(stdout, text))) return;
    text = "";
  }
  await isTaken(stdout, text);
}

/** False when nobody reads any more. */
function isTaken(stdout: World["stdout"], text: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    stdout.write(text, (error) => {
      if (!error) resolve(true);
      else if ("code" in error && error.code === "EPIPE") resolve(false);
      else reject(unwritten(error));
    });
  });
}

/** The error of a stdout that could not be written. */
export function unwritten(error: Error, achieved?: string): StopError {
  const what = `the result could not be written to stdout: ${describeError(error).message}`;
  if (achieved !== undefined) return new UntoldError(`${achieved}, but ${what}`, { cause: error });
  return new StopError(what, { cause: error });
}
