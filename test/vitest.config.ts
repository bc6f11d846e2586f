import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

const root = join(import.meta.dirname, "..");
const tests = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => `test/${name}`)
  .sort();
const textOf = (path: string) => readFileSync(join(root, path), "utf8");

/** Tests that take too long for `npm test` whatever is cut: only `npm run test:long` runs them. */
export const onlyLong = tests.filter((path) => path.endsWith(".long.test.ts"));

/** Tests whose rounds are cut in `npm test`; `npm run test:long` runs them in full. */
const cut = tests.filter((path) => /from "[./]*rounds\.js"/.test(textOf(path)) && !onlyLong.includes(path));

/** Tests that mock modules, or set what holds for a whole process: no other test may run in theirs. */
const alone = tests.filter((path) => /vi\.mock\(|process\.env\.TZ|fault-library/.test(textOf(path)));

export default defineConfig({
  test: {
    root,
    globalSetup: ["test/build-when-old.ts", "test/say-what-was-skipped.ts"],
    env: { http_proxy: "", https_proxy: "" }, // the servers of the tests are on this machine, which no proxy can reach
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 4, // on two cores: tests wait for servers and processes half of the time
    maxConcurrency: 2,
    projects: process.env.KBDUMP_LONG
      ? [{ extends: true, test: { name: "long", include: [...onlyLong, ...cut], testTimeout: 240_000 } }]
      : [
          { extends: true, test: { name: "alone", include: alone, exclude: onlyLong } },
          // A process of its own for each of the other files would double the time that most of them take.
          {
            extends: true,
            test: { name: "shared", include: ["test/**/*.test.ts"], exclude: [...alone, ...onlyLong], isolate: false },
          },
        ],
  },
});
