import { onlyLong } from "./vitest.config.js";

/** After the whole suite, says which tests were not part of it. */
export default function prepare(): (() => void) | undefined {
  const isWhole = !process.argv.some((argument) => argument.startsWith("test/"));
  if (process.env.KBDUMP_LONG || !isWhole) return undefined;
  return () =>
    process.stderr.write(`\nSkipped, as they take minutes; npm run test:long runs them:\n  ${onlyLong.join("\n  ")}\n`);
}
