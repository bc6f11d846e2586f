import { type DuckDbOptions, duckDbThreads } from "./open-duckdb.js";

/** A share of an amount of memory: half of `800MB` is `400MB`. */
export function memoryShare(memory: string, share: number): string {
  return memory.replace(/^[\d.]+/, (amount) => String(Number(amount) * share));
}

/** The options of each of several DuckDB instances that are at work at the same time: they share memory and threads. */
export function shareOf(options: DuckDbOptions, work: { readonly instances?: number; readonly threads?: number }) {
  const { instances = 1, threads = Math.max(1, Math.floor(duckDbThreads / instances)) } = work;
  return { ...options, memory: memoryShare(options.memory, 1 / instances), threads };
}
