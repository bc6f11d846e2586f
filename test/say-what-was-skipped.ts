import { onlyLong } from "./vitest.config.js";

/** After the whole suite, says which tests were not part of it. */
export default function prepare(): (() => void) | undefined {
  if (process.env.npm_lifecycle_event !== "test") return undefined;
  return () =>
    process.stderr.write(`\nSkipped, as they take minutes; npm run test:long runs them:\n  ${onlyLong.join("\n  ")}\n`);
}
