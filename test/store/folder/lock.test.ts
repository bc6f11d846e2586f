import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { link, mkdir, readdir, readFile, readlink, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { BusyError, LostError } from "../../../src/errors.js";
import { lockJob, readLock } from "../../../src/store/folder/lock.js";
import { dataset, document } from "../../job/job-folder.js";
import { inFull } from "../../rounds.js";
import { jobFor, testFolder } from "../../run/job-for.js";
import { underLease } from "../../under-lease.js";

const space = await readlink("/proc/self/ns/pid").catch(() => null);
const now = new Date("2026-11-20T02:00:00Z");
const deadPid = spawnSync(process.execPath, ["-e", ""]).pid;
const dead = JSON.stringify({ pid: deadPid, host: hostname(), since: "x", born: null, space });
const elsewhere = JSON.stringify({ pid: deadPid, host: "elsewhere", since: "2026-11-20T01:00:00Z", born: null, space });

/** A folder with a lock that was touched `age` seconds ago; a negative age is in the future. */
async function folderWithLock(text: string, age = 0): Promise<{ folder: string; path: string }> {
  const folder = await testFolder();
  const path = join(folder, "lock");
  await writeFile(path, text);
  await setAge(path, age);
  return { folder, path };
}

async function setAge(path: string, seconds: number): Promise<void> {
  const time = Date.now() / 1000 - seconds;
  await utimes(path, time, time);
}

test("a second run learns who holds the lock, and can take it once the first releases it", async () => {
  const folder = await testFolder();
  const lock = await lockJob(folder, now);
  await expect(lockJob(folder, now)).rejects.toThrow(BusyError);
  await expect(lockJob(folder, now)).rejects.toThrow(
    `process ${process.pid} on ${hostname()} since 2026-11-20T02:00:00.000Z. Wait for its end, or end it (kill ${process.pid})`,
  );
  await lock.release(folder);
  await (await lockJob(folder, now)).release(folder);
  expect(await readdir(folder)).toEqual([]);
});

test.each([
  ["of a process that is no more", dead, 0],
  [
    "of an earlier process with the pid of one that lives",
    JSON.stringify({ pid: process.pid, host: hostname(), since: "x", born: "1", space }),
    0,
  ],
  ["of another machine that was not touched for two minutes", elsewhere, 125],
  ["of another machine whose time lies far ahead", elsewhere, -125],
  [
    "of another boot of a machine of this name",
    JSON.stringify({ pid: process.pid, host: hostname(), since: "x", born: null, space, boot: "earlier" }),
    125,
  ],
  [
    "of another container",
    JSON.stringify({ pid: process.pid, host: hostname(), since: "x", born: null, space: "pid:[1]" }),
    125,
  ],
  ["that is empty", "", 125],
  ["that cannot be read", "{", 125],
])("the lock %s is taken over", async (_name, text, age) => {
  const { folder, path } = await folderWithLock(text, age);
  const lock = await lockJob(folder, now);
  expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({ pid: process.pid, since: now.toISOString() });
  expect(await readdir(folder)).toEqual(["lock"]);
  await lock.release(folder);
  expect(await readdir(folder)).toEqual([]);
});

test.each([
  ["of another machine", elsewhere, "process \\d+ on elsewhere since 2026-11-20T01:00:00Z"],
  [
    "of another container",
    JSON.stringify({ pid: deadPid, host: hostname(), since: "x", born: null, space: "pid:[1]" }),
    `process \\d+ on ${hostname()} since x`,
  ],
  ["that cannot be read", "{", "an unknown process, whose lock file cannot be read"],
  ["that is empty", "", "an unknown process, whose lock file cannot be read"],
])(
  "the lock %s that was touched of late is left alone, and the message says when it is taken over",
  async (_name, text, who) => {
    const { folder, path } = await folderWithLock(text, 30);
    await expect(lockJob(folder, now)).rejects.toThrow(
      new RegExp(
        `${who}. Its last heartbeat was 3\\d s ago; without another one, its lock is taken over in \\d+ s. If you know that it is gone, remove ${path}$`,
      ),
    );
    expect(await readFile(path, "utf8")).toBe(text);
    expect(await readdir(folder)).toEqual(["lock"]);
  },
);

test.each([
  [5, true],
  [125, false],
])("a process with the pid of the lock and an unknown start, touched %i s ago, holds it: %s", async (age, held) => {
  const text = JSON.stringify({ pid: process.pid, host: hostname(), since: "x", born: null, space });
  const { folder } = await folderWithLock(text, age);
  const outcome = await lockJob(folder, now).then(
    () => false,
    (error) => error instanceof BusyError,
  );
  expect(outcome).toBe(held);
});

test.each([
  ["a folder", (path: string) => mkdir(path)],
  ["a named pipe", async (path: string) => void spawnSync("mkfifo", [path])],
])("%s in place of the lock is an error, not a wait", async (kind, make) => {
  const folder = await testFolder();
  const path = join(folder, "lock");
  await make(path);
  await expect(lockJob(folder, now)).rejects.toThrow(`${path} is ${kind}, not a file; remove it or move it away`);
  expect(await readdir(folder)).toEqual(["lock"]);
});

test("a link that leads nowhere in place of the lock is an error, not an endless loop", async () => {
  const folder = await testFolder();
  await symlink("nowhere", join(folder, "lock"));
  await expect(lockJob(folder, now)).rejects.toThrow(
    `${join(folder, "lock")} is a symbolic link that leads nowhere; remove it`,
  );
});

test("a lock is released by a mark in it: a process that lives does not hold it any more", async () => {
  const folder = await testFolder();
  const lock = await lockJob(folder, now);
  const text = await readFile(join(folder, "lock"), "utf8");
  await expect(lockJob(folder, now)).rejects.toThrow(BusyError);
  await lock.release(join(folder, "not-there")); // nothing to move, as if a successor had removed our folder: only the mark releases it
  expect(await readFile(join(folder, "lock"), "utf8")).toBe(`${text}\nreleased\n`);
  await (await lockJob(folder, now)).release(folder);
  expect(await readdir(folder)).toEqual([]);
});

test("release leaves a lock unchanged that replaced ours, even at the last moment", async () => {
  const folder = await testFolder();
  const first = await lockJob(folder, now);
  await rm(join(folder, "lock"));
  const second = await lockJob(folder, now);
  await first.release(folder);
  await second.confirm();
  await expect(first.confirm()).rejects.toThrow(`was taken over by process ${process.pid} on ${hostname()}`);
  await second.release(folder);
});

test("the owner of the lock touches it", async () => {
  const folder = await testFolder();
  const lock = await lockJob(folder, now, { every: 5 });
  const text = await readFile(join(folder, "lock"), "utf8");
  await setAge(join(folder, "lock"), 1000);
  await vi.waitFor(
    async () => expect((await stat(join(folder, "lock"))).mtimeMs).toBeGreaterThan(Date.now() - 500_000),
    {
      timeout: 20_000,
    },
  );
  expect(await readFile(join(folder, "lock"), "utf8")).toBe(text);
  await lock.release(folder);
});

test.each([
  ["taken over", (path: string) => writeFile(path, elsewhere), "was taken over by process"],
  ["removed", async () => {}, "was removed"],
])("who holds a lock that is %s hears of it, and leaves the other's lock alone", async (_name, replace, message) => {
  const folder = await testFolder();
  const path = join(folder, "lock");
  const lock = await lockJob(folder, now, { every: 5 });
  const lost = once(lock.lost, "abort");
  await rm(path);
  await replace(path);
  await lost;
  expect(lock.lost.reason).toBeInstanceOf(LostError);
  expect(String(lock.lost.reason)).toContain(message);
  const left = await readdir(folder);
  await lock.release(folder);
  expect(await readdir(folder)).toEqual(left);
});

test("work in the folders of a job learns that the lock is lost", async () => {
  const folder = await testFolder();
  const job = await jobFor(folder, { service: { demo: true }, datasets: [{ id: dataset, documents: [document] }] });
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  await underLease(job, { now: () => now, log: () => {} }, async ({ private: hidden, lost }) => {
    await rm(join(hidden, "lock"));
    const label = once(lost, "abort");
    await vi.advanceTimersByTimeAsync(10_000);
    await label;
    expect(String(lost.reason)).toContain("was removed while this run was active");
  });
});

/** The results of tries by one process: `won` or `busy`. The lock is held until the test ends. */
async function tries(folder: string, count: number): Promise<readonly string[]> {
  const outcomes = await Promise.allSettled(Array.from({ length: count }, () => lockJob(folder, now)));
  return outcomes.map((outcome) => {
    if (outcome.status === "fulfilled") return "won";
    expect(outcome.reason).toBeInstanceOf(BusyError);
    return "busy";
  });
}

test.runIf(inFull).each([
  ["a dead lock", 0],
  ["a dead lock, and a dead lock on it of one who was killed while he took it over", 1],
  ["a dead lock on a dead lock on a dead lock", 2],
])("of many at once exactly one gets the lock: %s", async (_name, depth) => {
  for (let round = 0; round < 5; round++) {
    const { folder, path } = await folderWithLock(dead);
    let claimed = path;
    for (let level = 0; level < depth; level++) {
      claimed = `${claimed}.${(await readLock(claimed))?.id}`;
      await writeFile(claimed, dead.replace('"x"', `"${level}"`));
    }
    const outcomes = await tries(folder, 20);
    expect(outcomes.filter((outcome) => outcome === "won")).toHaveLength(1);
    expect(await readdir(folder)).toEqual(["lock"]);
  }
});

test("of many processes at once exactly one gets the lock of a dead one", async () => {
  const { folder } = await folderWithLock("", 125);
  const script = `
    import { lockJob } from ${JSON.stringify(new URL("../../../dist/store/folder/lock.js", import.meta.url).href)};
    process.stdout.write("ready");
    process.stdin.once("data", async () => {
      const outcome = await lockJob(process.argv[1], new Date()).then(() => "won", ({ name }) => name);
      process.stdout.write(outcome);
      process.stdin.once("data", () => process.exit());
    });`;
  const children = Array.from({ length: 5 }, () => {
    const child = spawn(process.execPath, ["--input-type=module", "-e", script, folder], { stdio: "pipe" });
    onTestFinished(() => {
      child.kill();
    });
    return child;
  });
  await Promise.all(children.map(({ stdout }) => once(stdout, "data")));
  const said = Promise.all(children.map(({ stdout }) => once(stdout, "data").then(String)));
  for (const { stdin } of children) stdin.write("go");
  expect((await said).sort()).toEqual(["BusyError", "BusyError", "BusyError", "BusyError", "won"]);
});

test("a lock file that a dead process of this machine prepared is removed at once; others stay for two minutes", async () => {
  const folder = await testFolder();
  const alive = JSON.stringify({ ...JSON.parse(dead), pid: process.pid });
  const files = { "lock.dead": dead, "lock.alive": alive, "lock.elsewhere": elsewhere, "lock.empty": "" };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  await mkdir(join(folder, "lock.folder"));
  await (await lockJob(folder, now)).release(folder);
  expect((await readdir(folder)).sort()).toEqual(["lock.alive", "lock.elsewhere", "lock.empty", "lock.folder"]);
});

test("files that killed processes left beside the lock are removed; files in use are not", async () => {
  const { folder } = await folderWithLock(dead);
  const [old, young] = ["lock.9d3c1f1e-0000-4000-8000-000000000001", "lock.9d3c1f1e-0000-4000-8000-000000000002"];
  for (const name of [old, young, "lock.0123456789abcdef", "locksmith"]) await writeFile(join(folder, name), dead);
  await setAge(join(folder, old), 1000);
  await writeFile(join(folder, young), elsewhere);
  await mkdir(join(folder, "parts"));
  const lock = await lockJob(folder, now);
  expect((await readdir(folder)).sort()).toEqual(["lock", young, "locksmith", "parts"]);
  await lock.release(folder);
  await writeFile(join(folder, young), dead);
  await link(join(folder, young), join(folder, "lock")); // a lock that a killed process on this machine left
  await (await lockJob(folder, now)).release(folder);
  expect((await readdir(folder)).sort()).toEqual(["locksmith", "parts"]);
});
