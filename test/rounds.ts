/** Whether to run shortened tests in full: `npm run test:long`. */
export const inFull = process.env.KBDUMP_LONG === "1";

/** The number of rounds: `few` in the normal suite, `many` in `npm run test:long`, or the value of the environment variable. */
export function rounds(few: number, many: number, variable = ""): number {
  return Number(process.env[variable] ?? (inFull ? many : few));
}
