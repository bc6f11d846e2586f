import { spawnSync } from "node:child_process";
import { lstat, mkdir, open, readdir, readFile, rename, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { LostError } from "../../../src/errors.js";
import { isThere, makeOwnFolder } from "../../../src/files/files.js";
import { thisOwner } from "../../../src/store/folder/lock-owner.js";
import type { LeasedJob } from "../../../src/store/lease.js";
import { dataset, document } from "../../job/job-folder.js";
import { jobFor, testFolder } from "../../run/job-for.js";
import { canMount, tinyDisk } from "../../run/tiny-disk.js";
import { underLease } from "../../under-lease.js";

const runId = "20261120T020000000Z";
const options = { now: () => new Date("2026-11-22T02:00:00Z"), log: () => {} };
const deadPid = spawnSync(process.execPath, ["-e", ""]).pid;

async function startJob() {
  const folder = await testFolder();
  const job = await jobFor(folder, { service: { demo: true }, datasets: [{ id: dataset, documents: [document] }] });
  const hidden = join(folder, "out", "test", ".work");
  await mkdir(hidden, { recursive: true });
  /** The folder that an owner left, with the work of a run in it; `owner` describes its process. */
  const leave = async (token: string, owner: object | undefined, ...below: readonly string[]) => {
    const own = join(hidden, ...below, token);
    const parts = join(own, runId, "segments");
    await mkdir(parts, { recursive: true });
    if (owner) await writeFile(join(own, "owner.json"), JSON.stringify(owner));
    await writeFile(join(own, runId, "plan.json"), "{}");
    await writeFile(join(parts, "1.chunks.jsonl"), "journaled\n");
    return own;
  };
  return { job, hidden, leave, place: join(folder, "out", "test") };
}

const [first, second, _third] = [1, 2, 3].map((number) => `5fd3c9ab-0000-4000-8000-00000000000${number}`) as [
  string,
  string,
  string,
];
const frozen = await thisOwner(new Date()); // an owner that is this process: it is alive, so nothing proves it dead
const dead = { ...frozen, pid: deadPid };
const elsewhere = { ...frozen, host: "elsewhere", pid: 12 };
const part = (leased: LeasedJob) => join(leased.own, runId, "segments", "1.chunks.jsonl");

test.each([
  ["a process of this machine that lives, whose lock was removed", frozen],
  ["a process of another machine", elsewhere],
])("fences %s: its work goes on as a copy, and nothing of it succeeds any more", async (_name, owner) => {
  const { job, hidden, leave, place } = await startJob();
  const own = await leave(first, owner);
  await mkdir(join(own, runId, "stage"));
  await writeFile(join(own, runId, "stage", "manifest.json"), "{}");
  await symlink("runs/x", join(own, "latest"));
  const late = await open(join(own, runId, "segments", "1.chunks.jsonl"), "a");
  await underLease(job, options, async (leased) => {
    await late.writeFile("written late\n");
    await late.close();
    expect(await readFile(part(leased), "utf8")).toBe("journaled\n");
    for (const source of [join(own, runId, "stage"), join(own, "latest")])
      await expect(rename(source, join(place, "published"))).rejects.toThrow("ENOENT");
    await expect(makeOwnFolder(join(own, "removed"))).rejects.toThrow("ENOENT");
    await expect(lstat(own)).rejects.toThrow("ENOENT");
    expect(JSON.parse(await readFile(join(hidden, "fenced", first), "utf8"))).toEqual({
      pid: process.pid,
      host: hostname(),
      at: "2026-11-22T02:00:00.000Z",
    });
  });
});

test.each([
  ["whose process is proved dead", dead, false],
  ["who said that it is done", elsewhere, true],
])("takes over the work of a holder %s without a copy, and leaves no mark", async (_name, owner, released) => {
  const { job, hidden, leave } = await startJob();
  const own = await leave(first, owner);
  if (released) await writeFile(join(own, "released"), "");
  const { ino } = await stat(join(own, runId, "segments", "1.chunks.jsonl"));
  await underLease(job, options, async (leased) => {
    expect((await stat(part(leased))).ino).toBe(ino);
    expect(await readdir(hidden)).not.toContain("fenced");
    expect(await readdir(join(leased.own, "from"))).toEqual([]);
  });
});

test("the work of an owner is taken over by the next one and the one after it; once it is done, nothing remains", async () => {
  const { job, hidden, leave } = await startJob();
  await leave(first, dead);
  for (let round = 0; round < 3; round++) {
    await underLease(job, options, async (leased) => expect(await readFile(part(leased), "utf8")).toBe("journaled\n"));
    expect((await readdir(hidden)).length).toBe(2); // the owner's folder, and indexing_status
  }
  await underLease(job, options, async (leased) => rename(join(leased.own, runId), join(hidden, "..", "gone")));
  expect(await readdir(hidden)).toEqual(["indexing_status"]);
});

test.skipIf(!canMount).each([
  ["is dead", dead],
  ["may still run", elsewhere],
])("what an owner that %s could not delete stops no successor, which deletes it later", async (_name, owner) => {
  const { job, hidden, leave } = await startJob();
  const stuck = join(await leave(first, owner), "removed", "run");
  await mkdir(stuck, { recursive: true });
  await tinyDisk(stuck, 64); // a folder with a mounted disk cannot be deleted
  const disks = async () => (await readdir(hidden, { recursive: true })).filter((name) => basename(name) === "disk");
  for (let round = 0; round < 2; round++)
    await underLease(job, options, async (leased) => {
      expect(await readFile(part(leased), "utf8")).toBe("journaled\n");
      expect(await disks()).toHaveLength(1);
    });
  for (const disk of await disks()) spawnSync("umount", [join(hidden, disk)]);
  await underLease(job, options, async (leased) => {
    expect(await disks()).toEqual([]);
    await rename(join(leased.own, runId), join(leased.folder, "gone"));
  });
  expect((await readdir(hidden)).filter((name) => name !== "fenced")).toEqual(["indexing_status"]);
});

test("an owner that died while fencing others: its remaining work is taken over by the same rules", async () => {
  const { job, leave } = await startJob();
  const own = await leave(first, dead);
  await rename(join(own, runId), join(own, "copy")); // as if interrupted while copying, so it may be incomplete
  await writeFile(join(own, "copy", "segments", "1.chunks.jsonl"), "half");
  const inner = await leave(second, elsewhere, first, "from");
  const { ino } = await stat(join(inner, runId, "segments", "1.chunks.jsonl"));
  await underLease(job, options, async (leased) => {
    expect(await readFile(part(leased), "utf8")).toBe("journaled\n");
    expect((await stat(part(leased))).ino).not.toBe(ino);
  });
});

test("the newest copy of the work counts, not the one that an owner took it from", async () => {
  const { job, leave } = await startJob();
  const own = await leave(first, dead);
  await writeFile(join(own, runId, "segments", "1.chunks.jsonl"), "journaled\nand continued\n");
  await leave(second, elsewhere, first, "from");
  await underLease(job, options, async (leased) =>
    expect(await readFile(part(leased), "utf8")).toBe("journaled\nand continued\n"),
  );
});

test("a named pipe or a link in work that is taken over is dropped, so that nothing waits for it or follows it", async () => {
  const { job, leave } = await startJob();
  for (const [token, owner] of [
    [first, dead],
    [second, elsewhere],
  ] as const) {
    const own = await leave(token, owner);
    spawnSync("mkfifo", [join(own, runId, "segments", "pipe")]);
    await symlink("/etc/passwd", join(own, runId, "segments", "link"));
    await underLease(job, options, async (leased) => {
      expect(await readdir(join(leased.own, runId, "segments"))).toEqual(["1.chunks.jsonl"]);
      await rename(join(leased.own, runId), join(leased.folder, token));
    });
  }
});

test("a fenced owner ends with an error that names the successor, after any other error", async () => {
  const { job, hidden } = await startJob();
  const outcome = await underLease(job, options, async (mine) => {
    await rename(join(hidden, "lock"), join(hidden, "..", "elsewhere")); // as if a user removed it
    await underLease(job, options, async () => {});
    return readFile(join(mine.own, "anything"));
  }).catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(LostError);
  expect(String(outcome)).toContain(
    `this job was taken over by process ${process.pid} on ${hostname()} (at 2026-11-22T02:00:00.000Z)`,
  );
});

test("a run that finds its lock gone names the successor that fenced it and ended meanwhile", async () => {
  const { job, hidden } = await startJob();
  const outcome = await underLease(job, options, async () => {
    await rename(join(hidden, "lock"), join(hidden, "..", "elsewhere"));
    await underLease(job, options, async () => {});
    throw new LostError("the lock was removed while this run was active");
  }).catch((error: unknown) => error);
  expect(String(outcome)).toContain(`this job was taken over by process ${process.pid} on ${hostname()}`);
});

test("a successor leaves word for a holder that was frozen before it made its folder", async () => {
  const { job, hidden } = await startJob();
  const lock = join(hidden, "lock");
  await writeFile(lock, JSON.stringify({ ...elsewhere, id: first }));
  const longAgo = Date.now() / 1000 - 300;
  await utimes(lock, longAgo, longAgo);
  await underLease(job, options, async () => expect(await readdir(join(hidden, "fenced"))).toEqual([first]));
  await writeFile(lock, `${JSON.stringify({ ...elsewhere, id: second })}\nreleased\n`);
  await underLease(job, options, async () => expect(await readdir(join(hidden, "fenced"))).toEqual([first]));
});

test("no mark is left for a process that was killed right after it made its folder", async () => {
  const { job, hidden } = await startJob();
  await writeFile(join(hidden, "lock"), JSON.stringify({ ...dead, id: first }));
  await mkdir(join(hidden, first));
  await underLease(job, options, async () => {});
  expect(await readdir(hidden)).toEqual(["indexing_status"]);
});

test("two owners that fence each other both fail, and leave their work to the next one", async () => {
  const { job, hidden, leave } = await startJob();
  await leave(first, dead);
  const outcome = await underLease(job, options, async (mine) => {
    await rename(join(hidden, "lock"), join(hidden, "..", "elsewhere"));
    await underLease(job, options, async (other) => {
      await rename(other.own, join(hidden, "..", "fenced-too"));
      await rename(join(hidden, "..", "fenced-too"), join(hidden, second));
      await readdir(other.own);
    });
    await readdir(mine.own);
  }).catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(LostError);
  await underLease(job, options, async (leased) => expect(await readFile(part(leased), "utf8")).toBe("journaled\n"));
});

test("a link with the name of an owner's folder is removed, and its target is not touched", async () => {
  const { job, hidden, place } = await startJob();
  const victim = join(place, "victim");
  await mkdir(join(victim, "from", second), { recursive: true });
  await symlink(victim, join(hidden, first));
  await mkdir(join(hidden, second, "from"), { recursive: true });
  await symlink(victim, join(hidden, second, "from", first));
  await underLease(job, options, async () => {});
  expect(await readdir(hidden)).toEqual(["fenced", "indexing_status"]);
  expect(await readdir(join(victim, "from"))).toEqual([second]);
});

test("if work has to be copied, only segments and facts and the database of a staged run are, not the stage", async () => {
  const { job, leave } = await startJob();
  for (const [token, isStaged] of [
    [first, true],
    [second, false],
  ] as const) {
    const work = join(await leave(token, elsewhere), runId);
    for (const name of ["stage", "scratch", "scratch/spill"]) await mkdir(join(work, name));
    for (const name of ["stage/chunks.csv", "scratch/new.duckdb", "scratch/spill/big"])
      await writeFile(join(work, name), "");
    if (isStaged) await writeFile(join(work, "stage", "manifest.json"), "{}");
    await underLease(job, options, async ({ own, folder }) => {
      const names = (await readdir(join(own, runId), { recursive: true })).sort();
      const database = isStaged ? ["scratch", "scratch/new.duckdb"] : [];
      expect(names).toEqual(["segments", "segments/1.chunks.jsonl", "plan.json", ...database].sort());
      await rename(join(own, runId), join(folder, token));
    });
  }
});

test("an error does not prove that nothing is there", async () => {
  await expect(isThere(join(await testFolder(), "x".repeat(300)))).rejects.toThrow("ENAMETOOLONG");
});
