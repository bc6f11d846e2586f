import { lstat, mkdir, open as openFile, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { StopError } from "../../../src/errors.js";
import { isThere } from "../../../src/files/files.js";
import {
  openFolderExchange,
  ownFolderExchange,
  removeOtherFolders,
} from "../../../src/parallel/exchange/folder-exchange.js";
import { findEarlierWork, planHash } from "../../../src/store/earlier-work.js";
import { rounds } from "../../rounds.js";
import { underLease } from "../../under-lease.js";
import { testExchange } from "./contract.js";
import { holdFolder, openFolderWorld, readInto, runId } from "./exchanges.js";

const token = "5fd3c9ab-0000-4000-8000-000000000001";

testExchange(openFolderWorld, rounds(50, 2000));

async function openPlace() {
  const environment = await holdFolder();
  const own = await ownFolderExchange(environment.leased, runId);
  const place = join(environment.folders.private, "exchange", runId);
  return { ...environment, own, place, worker: await openFolderExchange(environment.folders, runId) };
}

test("only the owner can read the place and its files", async () => {
  const { own, place, worker, folders } = await openPlace();
  await own.write("list.json", "[]");
  const { attempt } = await readInto(worker, "1", {});
  await attempt.submit([], "{}");
  const { attempt: failed } = await readInto(worker, "2", {});
  await failed.giveUp("why");
  const modeOf = async (path: string) => ((await lstat(path)).mode & 0o777).toString(8);
  for (const name of ["", "attempts", "results", "tried", "results/1", `attempts/2.${failed.token}`])
    expect(await modeOf(join(place, name))).toBe("700");
  for (const name of ["list.json", `results/1/${attempt.token}.json`, `tried/2.${failed.token}.txt`])
    expect(await modeOf(join(place, name))).toBe("600");
  expect((await readdir(folders.private)).sort()).toContain("exchange");
});

test("a file is taken without a copy of its bytes", async () => {
  const { own, worker, folder } = await openPlace();
  const { attempt, files } = await readInto(worker, "1", { "1.a": "rows" });
  const { ino } = await lstat(join(attempt.folder, "1.a"));
  await attempt.submit(files, "{}");
  for (const file of files) await own.take("1", attempt.token, file, join(folder, "taken"));
  expect((await lstat(join(folder, "taken"))).ino).toBe(ino);
});

test("a coordinator that was fenced changes nothing when it wakes, and its successor has everything", async () => {
  const { job, own, place, worker, folder, folders, leased } = await openPlace();
  await own.write("plan.json", "old");
  const { attempt, files } = await readInto(worker, "1", { "1.a": "rows" });
  await attempt.submit(files, "{}");
  await rm(join(folders.private, "lock")); // as if no sign of life had come for two minutes
  await underLease(job, { now: () => new Date(), log: () => {} }, async (successor) => {
    const after = await ownFolderExchange(successor, runId);
    for (const act of [
      () => own.write("plan.json", "late"),
      () => own.remove(),
      () => removeOtherFolders(leased, undefined),
    ])
      await expect(act()).rejects.toThrow("ENOENT");
    await own.forget("1");
    await expect(ownFolderExchange(leased, "20261121T020000000Z")).rejects.toThrow("ENOENT");
    expect(await readdir(join(place, ".."))).toEqual([runId]);
    expect(await after.read("plan.json")).toBe("old");
    expect(await after.results()).toEqual(["1"]);
    for (const file of files) await after.take("1", attempt.token, file, join(folder, "taken"));
  });
});

test("a run that is over leaves nothing behind, and other runs of the job are removed on request alone", async () => {
  const { own, leased, folders } = await openPlace();
  const other = await ownFolderExchange(leased, "20261121T020000000Z");
  await other.write("plan.json", "{}");
  await writeFile(join(folders.private, "exchange", "odd"), "");
  await own.write("plan.json", "{}");
  await removeOtherFolders(leased, runId);
  expect(await readdir(join(folders.private, "exchange"))).toEqual([runId]);
  expect(await own.read("plan.json")).toBe("{}");
  await own.remove();
  await own.remove();
  expect(await readdir(join(folders.private, "exchange"))).toEqual([]);
  await removeOtherFolders(leased, undefined);
  expect(await isThere(join(leased.own, "removed"))).toBe(false);
});

test.each([
  { change: "forgot a result", from: "results/1", to: "forgotten-1" },
  { change: "removed the place", from: ".", to: "removed" },
])("a coordinator that was killed while it $change leaves no file for good", async ({ from, to }) => {
  const { job, folders, leased, place, worker, release } = await openPlace();
  const { attempt, files } = await readInto(worker, "1", { "1.a": "rows" });
  await attempt.submit(files, "{}");
  await rename(join(place, from), join(leased.own, to)); // and then it was killed
  await release();
  await underLease(job, { now: () => new Date(), log: () => {} }, async (successor) => {
    const after = await ownFolderExchange(successor, runId);
    expect(await after.results()).toEqual([]);
    await after.remove();
  });
  expect((await readdir(folders.private)).sort()).toEqual(["exchange", "indexing_status"]);
  expect(await readdir(join(place, ".."))).toEqual([]);
});

test("a worker that still has a file open when the run ends brings nothing back", async () => {
  const { own, place, worker } = await openPlace();
  const { attempt, files } = await readInto(worker, "1", { "1.a": "rows" });
  const late = await openFile(join(attempt.folder, "1.a"), "a");
  await own.remove();
  await late.writeFile("written late");
  await late.close();
  await expect(writeFile(join(attempt.folder, "1.b"), "")).rejects.toThrow("ENOENT");
  expect(await attempt.submit(files, "{}")).toBe("late");
  expect(await isThere(place)).toBe(false);
});

test.each(["", "attempts", "results", "tried", ".."])("a link that was planted as %j is not followed", async (name) => {
  const { folders, leased, place, folder } = await openPlace();
  const elsewhere = join(folder, "elsewhere");
  await mkdir(elsewhere);
  await rename(join(place, name), join(folder, "moved"));
  await symlink(elsewhere, join(place, name));
  for (const open of [() => openFolderExchange(folders, runId), () => ownFolderExchange(leased, runId)])
    await expect(open()).rejects.toThrow("is a symbolic link, which is not followed; remove it");
  if (name === "..") await expect(removeOtherFolders(leased, undefined)).rejects.toThrow("is a symbolic link");
  expect(await readdir(elsewhere)).toEqual([]);
});

test("links that were planted as files are not followed, and odd names count for nothing", async () => {
  const { own, place, folder, worker } = await openPlace();
  const secret = join(folder, "secret");
  await mkdir(join(folder, "folder"));
  await writeFile(secret, "secret");
  await writeFile(join(folder, "folder", `${token}.json`), "secret");
  await symlink(secret, join(place, "plan.json"));
  await symlink(secret, join(place, "tried", `1.${token}.txt`));
  await symlink(join(folder, "folder"), join(place, "results", "1"));
  await mkdir(join(place, "results", "2"));
  await symlink(secret, join(place, "results", "2", `${token}.json`));
  await symlink(secret, join(place, "results", "2", "2.a"));
  for (const name of ["tried/x", `tried/..${token}.txt`, "tried/1.x.txt", "results/3", "results/.4"])
    await writeFile(join(place, name), "odd");
  await expect(worker.read("plan.json")).rejects.toThrow(StopError);
  expect(await own.tried()).toEqual([]);
  expect(await own.results()).toEqual(["2"]);
  expect(await own.result("2")).toBeUndefined();
  await expect(own.take("2", token, { file: "2.a", bytes: 6, sha256: "" }, join(folder, "taken"))).rejects.toThrow(
    "it is no file",
  );
  await own.remove();
  expect(await readFile(secret, "utf8")).toBe("secret");
  expect(await readdir(join(folder, "folder"))).toEqual([`${token}.json`]);
});

test("a run id that a broker made up leads nowhere", async () => {
  const { folders } = await openPlace();
  for (const id of ["..", "", "../../runs", `${runId}/../x`])
    await expect(openFolderExchange(folders, id)).rejects.toThrow("is no id of a run");
});

test("kbdump plan does not take an exchange for the work of a run that can be continued", async () => {
  const { own, job, folders } = await openPlace();
  const now = () => new Date("2026-11-20T03:00:00Z");
  await own.write("plan.json", JSON.stringify({ plan: planHash(job, undefined), started_at: now() }));
  expect(await findEarlierWork(folders, job, now)).toBeUndefined();
});
