import { readdir, readFile } from "node:fs/promises";

/** The different states of a process's threads, as in /proc: `T` if all are stopped. */
export async function threadStates(pid: number): Promise<string> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const states = await Promise.all(threads.map((thread) => stateIn(`/proc/${pid}/task/${thread}/stat`)));
  return [...new Set(states)].sort().join("");
}

/** The state letter in a stat file; it follows the name, which may contain spaces and brackets. */
async function stateIn(path: string): Promise<string> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text.slice(text.lastIndexOf(")") + 2).charAt(0);
}
