import { readFile } from "node:fs/promises";

/** The peak resident memory of a process in MB, from Linux; polled until the process ends. */
export async function peakMemory(pid: number | undefined, gone: Promise<unknown>): Promise<number> {
  let peak = 0;
  let running = true;
  void gone.then(() => {
    running = false;
  });
  while (running) {
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
    peak = Math.max(peak, Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1000);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return peak;
}
