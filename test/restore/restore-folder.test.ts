import { mkdir, readdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BusyError, LostError } from "../../src/errors.js";
import { leaseRestoreFolder } from "../../src/restore/session.js";
import { thisOwner } from "../../src/store/folder/lock-owner.js";

import { testFolder } from "../run/job-for.js";

const options = { now: () => new Date(), log: () => {}, signal: new AbortController().signal };

/** Makes a run folder. */
async function runFolder(): Promise<string> {
  const run = join(await testFolder(), "runs", "20260301T000000000Z");
  await mkdir(run, { recursive: true });
  return run;
}

test("only one restore of a run works at a time", async () => {
  const run = await runFolder();
  const first = await leaseRestoreFolder(run, options);
  await expect(leaseRestoreFolder(run, options)).rejects.toThrow(BusyError);
  await first[Symbol.asyncDispose]();
  await using next = await leaseRestoreFolder(run, options);
  await next.checkOwn();
});

test("nothing is left of a restore that was killed", async () => {
  const run = await runFolder();
  const folder = `${run}.restore`;
  const killed = { ...(await thisOwner(new Date(0))), pid: 4_194_305 }; // no process has this id
  await mkdir(join(folder, `.${killed.id}`), { recursive: true });
  await writeFile(join(folder, "lock"), JSON.stringify(killed));
  const lease = await leaseRestoreFolder(run, options);
  await lease[Symbol.asyncDispose]();
  expect(await readdir(folder)).toEqual([]);
});

test("a restore whose place another one took finds that out when it looks", async () => {
  const run = await runFolder();
  await using first = await leaseRestoreFolder(run, options);
  await first.checkOwn();
  await rename(join(first.path, "lock"), join(first.path, "away"));
  await using _next = await leaseRestoreFolder(run, options);
  await expect(first.checkOwn()).rejects.toThrow(LostError);
});
