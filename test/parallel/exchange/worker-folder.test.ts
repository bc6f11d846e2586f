import { spawnSync } from "node:child_process";
import { mkdir, readdir, readFile, symlink, utimes, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { openWorkerFolder } from "../../../src/parallel/exchange/open-exchange.js";
import { foldersOf } from "../../../src/store/folder/job-folders.js";
import { thisOwner } from "../../../src/store/folder/lock-owner.js";

import { dataset, document } from "../../job/job-folder.js";
import { jobFor, testFolder } from "../../run/job-for.js";

const now = new Date("2026-11-22T02:00:00Z");
const deadPid = spawnSync(process.execPath, ["-e", ""]).pid;
const tokenOf = (number: number) => `5fd3c9ab-0000-4000-8000-00000000000${number}`;

async function openJob() {
  const folder = await testFolder();
  const job = await jobFor(folder, { service: { demo: true }, datasets: [{ id: dataset, documents: [document] }] });
  const folders = foldersOf(job);
  /** The folder that a worker left, which was used last so many days ago. */
  const leave = async (number: number, owner: object | undefined, days: number) => {
    const path = join(folders.private, `worker-${tokenOf(number)}`);
    await mkdir(join(path, "1.attempt"), { recursive: true });
    if (owner) await writeFile(join(path, "owner.json"), JSON.stringify(owner));
    const used = new Date(now.getTime() - days * 86_400_000);
    await utimes(path, used, used);
    return basename(path);
  };
  return { folder, folders, leave };
}

test("a worker removes the folders of workers that are proved dead, or were not used for a week, and no other", async () => {
  const { folder, folders, leave } = await openJob();
  const alive = await thisOwner(now);
  const elsewhere = { ...alive, host: "elsewhere" };
  await leave(1, { ...alive, pid: deadPid }, 0);
  await leave(2, elsewhere, 8);
  await leave(3, undefined, 8);
  const kept = [await leave(4, alive, 8), await leave(5, elsewhere, 6), await leave(6, undefined, 0)];
  const other = join(folder, "other");
  await mkdir(other);
  await writeFile(join(other, "owner.json"), JSON.stringify({ ...alive, pid: deadPid }));
  await symlink(other, join(folders.private, `worker-${tokenOf(7)}`));
  await mkdir(join(folders.private, "worker-x"));
  const own = await openWorkerFolder(folders, now);
  expect(JSON.parse(await readFile(join(own, "owner.json"), "utf8"))).toMatchObject({ pid: process.pid });
  expect((await readdir(folders.private)).sort()).toEqual(
    [...kept, basename(own), "worker-x", `worker-${tokenOf(7)}`].sort(),
  );
  expect(await readdir(other)).toEqual(["owner.json"]);
});

test("a link in the place of the folder of the job is not followed", async () => {
  const { folder, folders } = await openJob();
  await mkdir(folders.folder, { recursive: true });
  await symlink(folder, folders.private);
  await expect(openWorkerFolder(folders, now)).rejects.toThrow("is a symbolic link, which is not followed");
});
