/** A share of an amount of memory: half of `800MB` is `400MB`. */
export function memoryShare(memory: string, share: number): string {
  return memory.replace(/^[\d.]+/, (amount) => String(Number(amount) * share));
}
