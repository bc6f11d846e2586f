import { createHash } from "node:crypto";
import { lstat, mkdir, open as openFile, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isThere } from "../../../src/files/files.js";
import { folderExchange, ownFolderExchange } from "../../../src/parallel/folder-exchange.js";
import { removeOtherExchanges } from "../../../src/parallel/open-exchange.js";
import { findEarlierWork, planHash } from "../../../src/segments/resume.js";
import { rounds } from "../../rounds.js";
import { underLease } from "../../under-lease.js";
import { testExchange } from "./contract.js";
import { holdFolder, openFolderEnvironment, ownPlanned, readInto, runId, take } from "./exchanges.js";

testExchange(openFolderEnvironment, rounds(50, 2000));

async function openPlace() {
  const environment = await holdFolder();
  const own = await ownPlanned(environment.leased);
  const place = join(environment.folders.private, "exchange", runId);
  return { ...environment, own, place, worker: await folderExchange(environment.folders, runId) };
}

test("only the owner can read the place and its files", async () => {
  const { place, worker, folders } = await openPlace();
  const { attempt } = await readInto(worker, "1", {});
  await attempt.submit([], "{}");
  const { attempt: underWay } = await readInto(worker, "2", {});
  const modeOf = async (path: string) => ((await lstat(path)).mode & 0o777).toString(8);
  for (const name of ["", "attempts", "results", `attempts/1.${attempt.token}`, `attempts/2.${underWay.token}`])
    expect(await modeOf(join(place, name))).toBe("700");
  for (const name of ["plan.json", "results/1.json"]) expect(await modeOf(join(place, name))).toBe("600");
  expect((await readdir(folders.private)).sort()).toContain("exchange");
});

test("a file is taken without a copy of its bytes", async () => {
  const { own, worker, folder } = await openPlace();
  const { attempt, files } = await readInto(worker, "1", { "1.a": "rows" });
  const { ino } = await lstat(join(attempt.folder, "1.a"));
  await attempt.submit(files, "{}");
  for (const file of files) expect(await take(own, attempt, file, join(folder, "taken"))).toBe(true);
  expect((await lstat(join(folder, "taken"))).ino).toBe(ino);
});

test("a coordinator that was fenced changes nothing when it wakes, and its successor has everything", async () => {
  const { job, own, place, worker, folder, folders, leased } = await openPlace();
  await own.write("plan.json", "old");
  const { attempt, files } = await readInto(worker, "1", { "1.a": "rows" });
  await attempt.submit(files, "{}");
  await rm(join(folders.private, "lock")); // as after two minutes without a heartbeat
  await underLease(job, { now: () => new Date(), log: () => {} }, async (successor) => {
    const after = await ownFolderExchange(successor, runId);
    for (const act of [
      () => own.write("plan.json", "late"),
      () => own.remove(),
      () => removeOtherExchanges(leased, undefined),
    ])
      await expect(act()).rejects.toThrow("ENOENT");
    await expect(ownFolderExchange(leased, "20261121T020000000Z")).rejects.toThrow("ENOENT");
    expect(await readdir(join(place, ".."))).toEqual([runId]);
    expect(await after.read("plan.json")).toBe("old");
    expect(await after.names("results")).toEqual(["1.json"]);
    for (const file of files) expect(await take(after, attempt, file, join(folder, "taken"))).toBe(true);
  });
});

test("a run that has ended leaves no files, and other runs of the job are removed only on request", async () => {
  const { own, leased, folders } = await openPlace();
  const other = await ownFolderExchange(leased, "20261121T020000000Z");
  await other.write("plan.json", "{}");
  await writeFile(join(folders.private, "exchange", "odd"), "");
  await own.write("plan.json", "{}");
  await removeOtherExchanges(leased, runId);
  expect(await readdir(join(folders.private, "exchange"))).toEqual([runId]);
  expect(await own.read("plan.json")).toBe("{}");
  await own.remove();
  await own.remove();
  expect(await readdir(join(folders.private, "exchange"))).toEqual([]);
  await removeOtherExchanges(leased, undefined);
  expect(await isThere(join(leased.own, "removed"))).toBe(false);
});

test.each([
  { change: "forgot a result", from: "results/1.json", to: "forgotten-1" },
  { change: "removed the place", from: ".", to: "removed" },
])("a coordinator that was killed while it $change leaves no file for good", async ({ from, to }) => {
  const { job, folders, leased, place, worker, release } = await openPlace();
  const { attempt, files } = await readInto(worker, "1", { "1.a": "rows" });
  await attempt.submit(files, "{}");
  await rename(join(place, from), join(leased.own, to)); // the state in which the kill leaves the folder
  await release();
  await underLease(job, { now: () => new Date(), log: () => {} }, async (successor) => {
    const after = await ownFolderExchange(successor, runId);
    expect(await after.names("results")).toEqual([]);
    await after.remove();
  });
  expect((await readdir(folders.private)).sort()).toEqual(["exchange", "indexing_status"]);
  expect(await readdir(join(place, ".."))).toEqual([]);
});

test("a worker that still has a file open when the run ends does not recreate anything", async () => {
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

test.each(["", "attempts", "results", ".."])("a link that was planted as %j is not followed", async (name) => {
  const { folders, leased, place, folder } = await openPlace();
  const elsewhere = join(folder, "elsewhere");
  await mkdir(elsewhere);
  await rename(join(place, name), join(folder, "moved"));
  await symlink(elsewhere, join(place, name));
  for (const open of [() => folderExchange(folders, runId), () => ownFolderExchange(leased, runId)])
    await expect(open()).rejects.toThrow("is a symbolic link, which is not followed; remove it");
  if (name === "..") await expect(removeOtherExchanges(leased, undefined)).rejects.toThrow("is a symbolic link");
  expect(await readdir(elsewhere)).toEqual([]);
});

test("links that were planted as files are not followed", async () => {
  const { own, place, folder, worker } = await openPlace();
  const secret = join(folder, "secret");
  await writeFile(secret, "secret");
  await rm(join(place, "plan.json"));
  for (const name of ["plan.json", "results/1.json", "attempts/2.a"]) await symlink(secret, join(place, name));
  await mkdir(join(place, "results", "2.json"));
  expect(await worker.read("plan.json"), "nothing that counts").toBe("");
  for (const key of ["results/1.json", "results/2.json"]) expect(await own.read(key)).toBe("");
  const sha256 = createHash("sha256").update("secret").digest("hex");
  expect(await own.take("attempts/2.a", join(folder, "taken"), { bytes: 6, sha256 })).toBe(false);
  await own.write("plan.json", "{}");
  await own.remove();
  expect(await readFile(secret, "utf8")).toBe("secret");
});

test("kbdump plan does not take an exchange for the work of a run that can be continued", async () => {
  const { own, job, folders } = await openPlace();
  const now = () => new Date("2026-11-20T03:00:00Z");
  await own.write("plan.json", JSON.stringify({ plan: planHash(job, undefined), started_at: now() }));
  expect(await findEarlierWork(folders, job, now)).toBeUndefined();
});
