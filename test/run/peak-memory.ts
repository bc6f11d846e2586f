import { readFile } from "node:fs/promises";

/** The most memory that a process ever had resident, in MB, as Linux knows it; read until the process is gone. */
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
