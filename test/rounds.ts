/** Whether everything that the suite cuts short runs in full: `npm run test:long`. */
export const inFull = process.env.KBDUMP_LONG === "1";

/** Rounds of a test: few in the suite, many in `npm run test:long`, and as many as the variable asks for. */
export function rounds(few: number, many: number, variable = ""): number {
  return Number(process.env[variable] ?? (inFull ? many : few));
}
