import { stat, utimes } from "node:fs/promises";
import { ifAbsent } from "../../dump/files/is-there.js";

/** Milliseconds for which a copy counts as in use after its last sign of use. */
const usedFor = 300_000;
const signEvery = 60_000;

/**
 * Marks a copy as used now, and again every minute for as long as this process is at work: by the time of a file of it. Nothing
 * happens while that file is not there.
 */
export async function keepInUse(path: string, signal: AbortSignal): Promise<void> {
  await markUse(path);
  const timer = setInterval(() => markUse(path).catch(() => clearInterval(timer)), signEvery).unref();
  signal.addEventListener("abort", () => clearInterval(timer), { once: true });
}

async function markUse(path: string): Promise<void> {
  const now = new Date();
  await utimes(path, now, now).catch(ifAbsent(undefined));
}

/** Whether some process uses a copy, by the time of that file. */
export async function isInUse(path: string): Promise<boolean> {
  const facts = await stat(path).catch(ifAbsent(undefined));
  return facts !== undefined && isRecent(facts.mtimeMs, Date.now());
}

/** Whether a copy with this time of last use is in use. */
export function isRecent(usedAt: number, now: number): boolean {
  return now - usedAt < usedFor;
}
