import { spawnSync } from "node:child_process";
import { readdir, readFile, readlink, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BusyError } from "../../src/errors.js";
import { lockJob } from "../../src/run/lock.js";
import { testFolder } from "./job-for.js";

const space = await readlink("/proc/self/ns/pid").catch(() => null);
const now = new Date("2026-11-20T02:00:00Z");
const deadPid = spawnSync(process.execPath, ["-e", ""]).pid;

test("a second run hears who holds the lock; after the first let it go, it can have it", async () => {
  const folder = await testFolder();
  const unlock = await lockJob(folder, now);
  await expect(lockJob(folder, now)).rejects.toThrow(BusyError);
  await expect(lockJob(folder, now)).rejects.toThrow(
    `process ${process.pid} on ${hostname()} since 2026-11-20T02:00:00.000Z`,
  );
  await unlock();
  await (await lockJob(folder, now))();
  expect(await readdir(folder)).toEqual([]);
});

test.each([
  ["of a process that is no more", { pid: deadPid, host: hostname(), since: "x", born: null, space }],
  [
    "of an earlier process with the pid of one that lives",
    { pid: process.pid, host: hostname(), since: "x", born: "1", space },
  ],
])("the lock %s is taken over", async (_name, holder) => {
  const folder = await testFolder();
  await writeFile(join(folder, "lock"), JSON.stringify(holder));
  await lockJob(folder, now);
  expect(JSON.parse(await readFile(join(folder, "lock"), "utf8"))).toMatchObject({
    pid: process.pid,
    since: now.toISOString(),
  });
  expect(await readdir(folder)).toEqual(["lock"]);
});

test.each([
  ["of another machine", JSON.stringify({ pid: deadPid, host: "elsewhere", since: "x", born: null, space })],
  [
    "of another container",
    JSON.stringify({ pid: deadPid, host: hostname(), since: "x", born: null, space: "pid:[1]" }),
  ],
  ["that cannot be read", "{"],
])("the lock %s is left alone, and the message says what to remove", async (_name, text) => {
  const folder = await testFolder();
  await writeFile(join(folder, "lock"), text);
  await expect(lockJob(folder, now)).rejects.toThrow(`remove ${join(folder, "lock")}`);
  expect(await readFile(join(folder, "lock"), "utf8")).toBe(text);
});

test("of many at once exactly one gets the lock, also where a dead one lies", async () => {
  const folder = await testFolder();
  await writeFile(
    join(folder, "lock"),
    JSON.stringify({ pid: deadPid, host: hostname(), since: "x", born: null, space }),
  );
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => lockJob(folder, now)));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});
