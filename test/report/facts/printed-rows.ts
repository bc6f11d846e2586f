import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Finished } from "../../cli/run-kbdump.js";

/** Runs a shell command with JSON instead of CSV; returns the number of rows that it prints. */
export async function printedRows(
  command: string,
  run: (args: readonly string[]) => Promise<Finished>,
): Promise<number | string> {
  const words = await wordsOf(command);
  if (words.slice(-2).join(" ") !== "--format csv") return "a table, which is cut";
  const { code, stdout, stderr } = await run([...words.slice(0, -1), "json"]);
  return code === 0 ? JSON.parse(stdout).length : `exit ${code}: ${stderr}`;
}

/** The arguments that a shell passes to kbdump. */
async function wordsOf(command: string): Promise<readonly string[]> {
  const script = `kbdump() { printf '%s\\0' "$@"; }\n${command}`;
  const { stdout } = await promisify(execFile)("/bin/sh", ["-c", script]);
  return stdout.split("\0").slice(0, -1);
}
