import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const root = join(import.meta.dirname, "..");
const tests = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => `test/${name}`)
  .sort();
const textOf = (path: string) => readFileSync(join(root, path), "utf8");

/** Files that only `npm run test:long` runs. */
const onlyLong = tests.filter((path) => path.endsWith(".long.test.ts"));

/** Tests that mock modules or change process-wide settings, so they need their own process. */
const alone = tests.filter((path) => /vi\.mock\(|process\.env\.TZ|fault-library/.test(textOf(path)));

const inFull = process.env.KBDUMP_LONG === "1";
const included = inFull ? tests : tests.filter((path) => !onlyLong.includes(path));

/** Runs the files with the largest timeouts first, so that no worker starts a long one when the others are done. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const byProject = Object.values(Object.groupBy(sorted, ({ project }) => project.name)).map((some = []) => some);
    return byProject.flatMap((some) => some.toSorted((a, b) => timeoutOf(b) - timeoutOf(a)));
  }
}

/** The largest number in a file that may be a timeout in milliseconds. */
function timeoutOf({ moduleId }: TestSpecification): number {
  const numbers = readFileSync(moduleId, "utf8").match(/\b\d+(_\d{3})+\b/g) ?? [];
  return Math.max(0, ...numbers.map((number) => Number(number.replaceAll("_", ""))));
}

export default defineConfig({
  test: {
    root,
    globalSetup: ["test/build-when-old.ts", "test/say-what-was-skipped.ts"],
    env: {
      ...{ http_proxy: "", https_proxy: "" }, // the test servers run on this machine, where no proxy reaches them
      NODE_COMPILE_CACHE: join(root, "node_modules/.cache/compiled"), // tests start the program thousands of times
    },
    testTimeout: inFull ? 240_000 : 60_000,
    hookTimeout: 60_000,
    maxWorkers: 4, // on two cores: tests wait for servers and processes half of the time
    maxConcurrency: 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      { extends: true, test: { name: "alone", include: included.filter((path) => alone.includes(path)) } },
      // Separate processes for the other files would take about twice as long. Long tests measure their own process.
      {
        extends: true,
        test: {
          name: "shared",
          include: included.filter((path) => !alone.includes(path) && !onlyLong.includes(path)),
          isolate: false,
        },
      },
      {
        extends: true,
        test: { name: "long", include: inFull ? onlyLong.filter((path) => !alone.includes(path)) : [] },
      },
    ],
  },
});
