import { spawnSync } from "node:child_process";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findDatabase, findRun, findRunAndOneBefore, findRunBefore } from "../../src/store/find-run.js";
import { jobFile, testFolder } from "../run/job-for.js";
import { makeRuns } from "../store/past-run.js";

const [first, second, third] = ["20261118T020000000Z", "20261119T020000000Z", "20261120T020000000Z"];

/** An output folder with the job `test`: two complete runs and a later partial run. */
async function startPlace() {
  const folder = await testFolder();
  const dir = join(folder, "out");
  const job = join(dir, "test");
  await makeRuns(job, "test", { [first]: "complete", [second]: "complete", [third]: "partial" });
  return { folder, dir, job, options: { out: dir, env: {} }, runOf: (id: string) => join(job, "runs", id) };
}

test("a name, a folder and a file of a job stand for its newest complete run; a run folder for itself", async () => {
  const { folder, job, options, runOf } = await startPlace();
  // The job lacks settings that only a run needs: it has no service, and a variable is not set.
  const file = await jobFile(folder, { notify: { url: `\${NOTIFY_URL}` } });
  expect(await findRun("test", options)).toBe(runOf(second));
  expect(await findRun(job, { env: {} })).toBe(runOf(second));
  expect(await findRun(`${job}/`, { env: {} })).toBe(runOf(second));
  expect(await findRun(file, { env: {} })).toBe(runOf(second));
  expect(await findRun(join(job, "latest"), { env: {} })).toBe(join(job, "latest"));
  expect(await findRun(runOf(third), { env: {} })).toBe(runOf(third));
  expect(await findRun(`test@${third}`, options)).toBe(runOf(third));
  expect(await findRun("test@20261118", options)).toBe(runOf(first));
  expect(await findRun(`${file}@20261118`, { env: {} })).toBe(runOf(first));
});

test("the run before is the complete one before, whichever run is given", async () => {
  const { options, runOf } = await startPlace();
  expect(await findRunAndOneBefore("test", options)).toEqual([runOf(first), runOf(second)]);
  expect(await findRunAndOneBefore(`test@${third}`, options)).toEqual([runOf(second), runOf(third)]);
  await expect(findRunAndOneBefore(`test@${first}`, options)).rejects.toThrow(
    `There is no older run to compare with:\n  test@${first}: no complete run before ${first}; name a newer one`,
  );
  await expect(findRunAndOneBefore(runOf(first), options)).rejects.toThrow("it is one run; name a second one");
});

test("a job with one complete run has nothing to compare, and the error says how to get a second", async () => {
  const { dir, options } = await startPlace();
  await makeRuns(join(dir, "once"), "once", { [first]: "complete", [second]: "partial" });
  const message = `There is no older run to compare with:\n  once: it has only one complete run, ${first}; after one more kbdump run, there are two to compare`;
  await expect(findRunAndOneBefore("once", options)).rejects.toThrow(message);
  await expect(findRunBefore("once", join(dir, "once", "runs", first), options)).rejects.toThrow(message);
});

test("a run at `latest` with a broken manifest is not passed over in silence", async () => {
  const { options, runOf } = await startPlace();
  await writeFile(join(runOf(second), "manifest.json"), "{");
  expect(await findRun("test", options)).toBe(runOf(second));
});

test("a job without `latest` still has its newest complete run, and a copy without `runs` its `latest`", async () => {
  const { job, dir, options, runOf } = await startPlace();
  await rm(join(job, "latest"));
  expect(await findRun("test", options)).toBe(runOf(second));
  await makeRuns(join(dir, "copy"), "copy", { [first]: "complete" });
  await rm(join(dir, "copy", "latest"));
  await mkdir(join(dir, "single"));
  await symlink(runOf(first), join(dir, "single", "latest"));
  expect(await findRun("single", options)).toBe(join(dir, "single", "latest"));
});

test("if a run is not found, the error names it and the existing ones", async () => {
  const { folder, dir, job, options, runOf } = await startPlace();
  await makeRuns(join(dir, "partial"), "partial", { [first]: "partial", [second]: "partial" });
  await mkdir(join(dir, "empty", ".work"), { recursive: true });
  await mkdir(join(dir, "other"));
  const latest = join(job, "latest");
  const file = join(folder, "file.txt");
  await writeFile(file, "");
  const other = "--out names another output folder";
  const messages: Readonly<Record<string, string>> = {
    nightly: `No such run or job:\n  nightly: no file or folder has this name, and no job in ${dir}; jobs there: empty, partial, test. ${other}`,
    [first]: `No such run or job:\n  ${first}: write the job before the id of the run, as in nightly@${first}`,
    "test@2026111":
      "No such run or job:\n  test@2026111: write at least the day of the run after the @, as in test@20261120",
    "no/such": "No such run or job:\n  no/such: there is no such file or folder",
    "": `No such run or job:\n  "": there is no such file or folder`,
    [file]: `No such run or job:\n  ${file}: it is a file, but neither a job file nor a database; expected a run folder, or the name of a job`,
    [dir]: `Not a finished run folder:\n  ${dir}: no manifest.json in it. Did you mean ${latest}, or --out ${dir}?`,
    [join(job, "runs")]:
      `Not a finished run folder:\n  ${join(job, "runs")}: no manifest.json in it. Did you mean ${latest}?`,
    [join(dir, "other")]:
      `Not a finished run folder:\n  ${join(dir, "other")}: no manifest.json in it, which a run writes last`,
    empty: `No such run:\n  empty: no run was published in ${join(dir, "empty", "runs")} yet`,
    partial: `No such run:\n  partial: no complete run, so there is no latest. The newest run is partial or cannot be read: ${join(dir, "partial", "runs", second)}`,
    "test@20250101": `No such run:\n  test@20250101: no run 20250101 in ${join(job, "runs")}; the newest there: ${third}, ${second}, ${first}`,
    "test@20261118T03": `No such run:\n  test@20261118T03: no run 20261118T03 in ${join(job, "runs")}; the newest there: ${third}, ${second}, ${first}`,
  };
  for (const [word, message] of Object.entries(messages))
    await expect(findRun(word, options), word).rejects.toThrow(message);
  await makeRuns(job, "test", { "20261118T030000000Z": "partial" });
  await expect(findRun("test@20261118", options)).rejects.toThrow(
    `2 runs begin with 20261118: 20261118T030000000Z, ${first}`,
  );
  await expect(findRun("nightly", { out: join(folder, "none"), env: {} })).rejects.toThrow(
    `no job in ${join(folder, "none")}; there is no folder ${join(folder, "none")}. ${other}`,
  );
  expect(await findRun(runOf(third), options)).toBe(runOf(third));
});

test("files that are nothing of ours are not waited for, and hide no job; a copied folder of a job has its database", async () => {
  const { folder, dir, options } = await startPlace();
  const pipe = join(folder, "pipe");
  expect(spawnSync("mkfifo", [pipe]).status).toBe(0);
  await expect(findRun(pipe, options)).rejects.toThrow("it is a file, but neither a job file nor a database");
  const copy = join(folder, "copy");
  await makeRuns(copy, "test", { [first]: "complete" });
  await expect(findDatabase(copy, options)).rejects.toThrow("The job has no database:");
  await writeFile(join(copy, "test.duckdb"), "");
  expect(await findDatabase(copy, options)).toEqual({ database: join(copy, "test.duckdb") });
  expect(await findDatabase(join(copy, "test.duckdb"), { out: dir, env: {} })).toEqual({
    database: join(copy, "test.duckdb"),
  });
});

test("an older run to compare with: of a job the newest complete one before the run, else the run that is named", async () => {
  const { options, runOf, job } = await startPlace();
  expect(await findRunBefore("test", runOf(third), options)).toBe(runOf(second));
  expect(await findRunBefore("test", join(job, "latest"), options)).toBe(runOf(first));
  expect(await findRunBefore("test@20261120", runOf(first), options)).toBe(runOf(third));
  expect(await findRunBefore(runOf(first), runOf(third), options)).toBe(runOf(first));
  await expect(findRunBefore("test", runOf(first), options)).rejects.toThrow(
    `test: no complete run before ${first}; name a newer one`,
  );
  await expect(findRunBefore(join(job, "latest"), runOf(second), options)).rejects.toThrow(
    "it is the run itself; name an older one",
  );
});
