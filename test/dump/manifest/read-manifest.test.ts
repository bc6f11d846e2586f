import { mkdir, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readManifest, readRunFacts } from "../../../src/dump/read-manifest.js";
import { testFolder } from "../../run/job-for.js";
import { manifestOf } from "../manifest-of.js";

const write = async (manifest: unknown) => {
  const folder = await testFolder();
  await writeFile(join(folder, "manifest.json"), JSON.stringify(manifest));
  return folder;
};

test("a manifest of a later form still says which run it is of", async () => {
  const later = { path: "chunks.csv.gz", rows: 1, bytes: 7, sha256: "x" };
  const manifest = { ...manifestOf({ run_id: "20261120T020000123Z" }), format: 4, files: [later], discovered: 1 };
  const folder = await write(manifest);
  expect(await readManifest(folder)).toEqual({
    manifest: undefined,
    problems: ["has format 4, and this version of kbdump reads format 3: update kbdump"],
  });
  expect(await readRunFacts(folder)).toMatchObject({ run_id: "20261120T020000123Z", format: 4, files: [{ bytes: 7 }] });
});

test.each([
  ["no JSON", async (path: string) => writeFile(path, "{")],
  ["a folder", async (path: string) => mkdir(path)],
  ["a link in a circle", async (path: string) => symlink(path, path)],
  ["a link to another", async (path: string) => symlink("/etc/hostname", path)],
  [
    "a socket",
    async (path: string) => {
      const server = createServer().listen(path);
      onTestFinished(() => void server.close());
      await new Promise((listening) => server.once("listening", listening));
    },
  ],
])("a manifest that is %s does not stop a reader of other runs", async (_what, make) => {
  const folder = await testFolder();
  await make(join(folder, "manifest.json"));
  expect(await readRunFacts(folder)).toBeUndefined();
  expect((await readManifest(folder))?.problems).toHaveLength(1);
});

test("an unreadable folder does not stop a command that reads other runs", async () => {
  expect(await readRunFacts(join(await testFolder(), "\0"))).toBeUndefined();
});
