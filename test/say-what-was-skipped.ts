import type { TestProject } from "vitest/node";
import { onlyLong } from "./vitest.config.js";

/** Says after `npm test` which tests were not part of it. It is called for every project, and speaks once. */
export default function prepare({ name }: TestProject): (() => void) | undefined {
  if (process.env.npm_lifecycle_event !== "test" || name !== "shared") return undefined;
  return () =>
    process.stderr.write(
      `\nSkipped, so that npm test stays below five minutes; npm run test:long runs them:\n  ${onlyLong.join("\n  ")}\n`,
    );
}
