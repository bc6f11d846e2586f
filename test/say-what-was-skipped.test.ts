import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { findChromium } from "./report/browser/find-chromium.js";
import prepare from "./say-what-was-skipped.js";

afterEach(() => void vi.unstubAllEnvs());

/** The text that is printed after the tests of a project. */
function saidAfter(command: string, project: string): string {
  vi.stubEnv("npm_lifecycle_event", command);
  const said: string[] = [];
  const spy = vi.spyOn(process.stderr, "write").mockImplementation((text) => said.push(String(text)) > 0);
  prepare({ name: project })?.();
  spy.mockRestore();
  return said.join("");
}

const stores = ["moto_server", "rclone", "s3rver"];

/** Sets the PATH to a folder that contains only programs with these names. */
async function install(...names: readonly string[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "kbdump-programs-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const name of names) await writeFile(join(folder, name), "", { mode: 0o700 });
  vi.stubEnv("PATH", folder);
}

test("the browser is the one in CHROMIUM, or else the first on the PATH", async () => {
  const folder = await mkdtemp(join(tmpdir(), "kbdump-chromium-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const paths = ["chromium-browser", "google-chrome", "mine"].map((name) => join(folder, name));
  for (const path of paths) {
    await writeFile(path, "");
    await chmod(path, 0o700);
  }
  await writeFile(join(folder, "chromium"), ""); // not executable
  const [first, , mine = ""] = paths;
  expect(findChromium({ PATH: `/nowhere:${folder}` })).toBe(first);
  expect(findChromium({ PATH: folder, CHROMIUM: mine })).toBe(mine);
  expect(findChromium({ PATH: folder, CHROMIUM: "/nowhere/chromium" })).toBeUndefined();
  expect(findChromium({ PATH: "" })).toBeUndefined();
});

test("a missing browser is named once, with what to do, or fails the tests", async () => {
  await install(...stores, "redis-server");
  vi.stubEnv("KBDUMP_BROWSER", "");
  vi.stubEnv("CHROMIUM", "/nowhere/chromium");
  expect(saidAfter("test", "shared")).toMatch(
    /npm run test:long runs them\.[\s\S]*there is no Chromium.*apt-get install/,
  );
  expect(saidAfter("test:long", "shared")).toMatch(/^\nSkipped, because there is no Chromium.*\n/);
  expect(saidAfter("test", "alone")).toBe("");
  vi.stubEnv("KBDUMP_BROWSER", "1");
  expect(() => prepare({ name: "shared" })).toThrow("KBDUMP_BROWSER=1 asks for");
});

test("a missing object store is named once, with what to do, or fails the tests", async () => {
  vi.stubEnv("KBDUMP_S3", "");
  vi.stubEnv("CHROMIUM", process.execPath); // any program
  await install("redis-server");
  expect(saidAfter("test", "shared")).toMatch(
    /npm run test:long runs them\.[\s\S]*moto_server, rclone or s3rver.*pip install/,
  );
  expect(saidAfter("test:long", "shared")).toMatch(/^\nSkipped, because moto_server, rclone or s3rver.*\n/);
  vi.stubEnv("KBDUMP_S3", "1");
  expect(() => prepare({ name: "shared" })).toThrow("KBDUMP_S3=1 asks for");
});

test("a missing broker is named once, with what to do, or fails the tests", async () => {
  await install(...stores);
  vi.stubEnv("KBDUMP_REDIS", "");
  vi.stubEnv("CHROMIUM", process.execPath); // any program
  const sentence = "Skipped, because neither redis-server nor valkey-server is on the PATH";
  expect(saidAfter("test", "shared")).toMatch(
    new RegExp(`npm run test:long runs them\\.[\\s\\S]*${sentence}.*apt-get install redis`),
  );
  expect(saidAfter("test:long", "shared")).toMatch(new RegExp(`^\n${sentence}.*\n`));
  expect(saidAfter("test", "alone")).toBe("");
  vi.stubEnv("KBDUMP_REDIS", "1");
  expect(() => prepare({ name: "shared" })).toThrow("KBDUMP_REDIS=1 asks for");
});

test.each(["redis-server", "valkey-server"])(
  "where there are a browser, the stores and %s, only the long tests are named",
  async (broker) => {
    await install(...stores, broker);
    vi.stubEnv("KBDUMP_REDIS", "1");
    vi.stubEnv("KBDUMP_BROWSER", "1");
    vi.stubEnv("CHROMIUM", process.execPath); // any program
    expect(saidAfter("test", "shared")).toContain("npm run test:long runs them.");
    expect(saidAfter("test", "shared")).not.toMatch(/Chromium|moto|redis/);
    expect(saidAfter("test:unit", "shared")).toBe("");
  },
);
