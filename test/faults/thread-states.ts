import { readdir, readFile } from "node:fs/promises";

/** The states of the threads of a process, each once, as /proc has them: `T` where all are stopped. */
export async function threadStates(pid: number): Promise<string> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const states = await Promise.all(threads.map((thread) => stateIn(`/proc/${pid}/task/${thread}/stat`)));
  return [...new Set(states)].sort().join("");
}

/** The letter behind the name, which may hold spaces and brackets. */
async function stateIn(path: string): Promise<string> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text.slice(text.lastIndexOf(")") + 2).charAt(0);
}
