import { chmod, cp, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readManifest } from "../../src/dump/read-manifest.js";
import { workspaceIn } from "../../src/run/open-workspace.js";
import { shareUnchanged } from "../../src/run/stage-run.js";
import { FolderStore } from "../../src/store/folder/folder-store.js";
import { foldersOf } from "../../src/store/folder/job-folders.js";
import { runHere } from "../cli/run-here.js";
import { inFull } from "../rounds.js";
import { startPublishedPlace } from "./database/published-job.js";
import { testFolder } from "./job-for.js";
import { canMount, tinyDisk } from "./tiny-disk.js";

const same = ["chunks.jsonl", "chunks.csv", "child_chunks.jsonl"];
const inodes = (folder: string) => Promise.all(same.map(async (name) => (await stat(join(folder, name))).ino));

test.runIf(inFull)(
  "an unchanged file is the same on the disk in both runs, and stays when one of them is removed",
  async () => {
    const { run } = await startPublishedPlace(["jsonl", "csv"]);
    const [first, second] = [await run(), await run()];
    expect(await inodes(second.folder)).toEqual(await inodes(first.folder));
    expect((await stat(join(second.folder, "manifest.json"))).nlink).toBe(1);
    await rm(first.folder, { recursive: true });
    expect((await runHere(["verify", second.folder])).code).toBe(0);
  },
);

test.runIf(inFull)("a file that changed is a separate file, and the others are shared", async () => {
  const { run, documents } = await startPublishedPlace(["jsonl", "csv"]);
  const first = await run();
  for (const chunk of documents[0]?.chunks ?? []) Object.assign(chunk, { content: "new" });
  const before = await readFile(join(first.folder, "chunks.jsonl"));
  const second = await run();
  const [chunks, csv, children] = await inodes(second.folder);
  const [oldChunks, oldCsv, oldChildren] = await inodes(first.folder);
  expect([chunks === oldChunks, csv === oldCsv, children === oldChildren]).toEqual([false, false, true]);
  expect((await readFile(join(first.folder, "chunks.jsonl"))).equals(before)).toBe(true);
  expect((await runHere(["verify", second.folder])).code).toBe(0);
});

test.runIf(inFull).each([
  ["was damaged, at the same size", async (path: string) => writeFile(path, (await readFile(path)).fill(32, 100, 101))],
  ["others may read", (path: string) => chmod(path, 0o644)],
  ["is gone", (path: string) => rm(path)],
])("a file of the run before that %s is not shared, and the new run is sound", async (_what, spoil) => {
  const { run } = await startPublishedPlace(["jsonl"]);
  const first = await run();
  const path = join(first.folder, "chunks.jsonl");
  const sound = await readFile(path);
  await spoil(path);
  const { folder } = await run();
  const facts = await stat(join(folder, "chunks.jsonl"));
  expect([facts.nlink, facts.mode & 0o777]).toEqual([1, 0o600]);
  expect((await readFile(join(folder, "chunks.jsonl"))).equals(sound)).toBe(true);
  expect((await runHere(["verify", folder])).code).toBe(0);
});

test.skipIf(!canMount)("if no link can be made, the file silently stays a copy", async () => {
  const { job, run, warnings } = await startPublishedPlace(["jsonl"]);
  const first = await run();
  const folder = await testFolder();
  const owned = { ...foldersOf(job), own: join(folder, "own") };
  const leased = { ...owned, store: new FolderStore(owned), lost: new AbortController().signal };
  const [runId, disk] = ["29991231T235959999Z", await tinyDisk(folder, 1024)];
  const workspace = { ...workspaceIn(leased, runId), startedAt: new Date(), scratch: disk.path };
  await mkdir(workspace.work, { recursive: true });
  await cp(first.folder, workspace.stage, { recursive: true });
  const before = await stat(join(workspace.stage, "chunks.jsonl"));
  const { manifest } = (await readManifest(first.folder)) ?? {};
  if (!manifest) throw new Error("there is no manifest");
  await shareUnchanged(manifest, workspace, leased.lost);
  expect((await stat(join(workspace.stage, "chunks.jsonl"))).ino).toBe(before.ino);
  await mkdir(join(folder, "scratch"));
  await shareUnchanged(manifest, { ...workspace, scratch: join(folder, "scratch") }, leased.lost);
  expect((await stat(join(workspace.stage, "chunks.jsonl"))).ino).not.toBe(before.ino); // on the same disk, both are the same inode
  expect(warnings).toEqual([]);
});
