import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { expect, test } from "vitest";
import { guardName, isReindexed } from "../../src/restore/guard.js";
import { runHere } from "../cli/run-here.js";
import { finished, startKbdump } from "../cli/run-kbdump.js";
import { inFull } from "../rounds.js";
import { guarded } from "./guarded.js";

/** Starts the command; resolves when it waits for the re-index. */
async function startGuard({ command, env }: Awaited<ReturnType<typeof guarded>>, ...more: readonly string[]) {
  const child = startKbdump([...command, ...more], env);
  const done = finished(child);
  let said = "";
  while (!said.includes("start the re-index now")) {
    const [text] = await Promise.race([once(child.stderr ?? child, "data"), done.then(() => [undefined])]);
    if (text === undefined) throw new Error(`it ended before: ${(await done).stderr}`);
    said += text;
  }
  return { child, done };
}

test("guard backs up, waits for the re-index, and restores what it removed", async () => {
  const guard = await guarded();
  const before = guard.contents();
  const { done } = await startGuard(guard, "--yes");
  guard.reindex();
  const { code, stdout, stderr } = await done;
  expect(code, stderr).toBe(0);
  expect(stdout).toContain("restored: 2 of 2; proved");
  expect(stderr).toContain("backed up: 1 document, 53 chunks, 53 child chunks; ");
  expect(stderr).toContain('\n"Contents that break exports.txt" (72eeb179-b9ed-4b5c-8fc0-ef7a606536c0)\n  To write:\n');
  expect(guard.contents()).toEqual(before);
  expect(await readdir(guard.runs)).toHaveLength(3); // two backups, and the folder that the restore made
});

test("guard knows the text before each edit, also since the last run of the job: even neighbouring edits have a place", async () => {
  const guard = await guarded();
  const run = () =>
    runHere(["run", ...guard.command.slice(1).filter((word) => !/^(--interval|0\.1)$/.test(word))], guard.env);
  expect(await run()).toMatchObject({ code: 0 });
  await guard.edit(30, 31);
  expect(await run()).toMatchObject({ code: 0 });
  await guard.edit(31, 32, 33);
  const before = guard.contents();
  const { done } = await startGuard(guard, "--yes");
  guard.reindex();
  const { code, stdout, stderr } = await done;
  expect(code, stdout + stderr).toBe(0);
  expect(stdout).toContain("restored: 6 of 6; proved");
  expect(guard.contents()).toEqual(before);
  const [backup = ""] = await readdir(guard.runs);
  const diff = JSON.parse(
    (await runHere(["diff", join(guard.runs, backup), join(guard.runs, "..", "latest"), "--json"])).stdout,
  );
  expect(diff).toMatchObject({ manual_edits: 6, warnings: [] });
});

test.runIf(inFull)("a run of the job after the backup is not taken for an older one", async () => {
  const guard = await guarded();
  const run = ["run", ...guard.command.slice(1).filter((word) => !/^(--interval|0\.1)$/.test(word))];
  expect(await runHere(run, guard.env)).toMatchObject({ code: 0 });
  const { done } = await startGuard(guard, "--yes");
  await guard.edit(30, 31); // the backup does not have these edits
  expect(await runHere(run, guard.env)).toMatchObject({ code: 0 });
  guard.reindex();
  const { code, stdout, stderr } = await done;
  expect([code, stdout]).toEqual([0, expect.stringContaining("restored: 2 of 2; proved")]);
  expect(stderr).not.toContain("still there"); // the text in the backup is not taken for an edit
});

test.runIf(inFull)("a stopped guard knows the latest edits, although the job has run since the re-index", async () => {
  const guard = await guarded();
  const run = ["run", ...guard.command.slice(1).filter((word) => !/^(--interval|0\.1)$/.test(word))];
  expect(await runHere(run, guard.env)).toMatchObject({ code: 0 });
  await guard.edit(31, 32, 33);
  const { child, done } = await startGuard(guard, "--yes");
  child.kill("SIGINT");
  await done;
  const [backup = ""] = await readdir(guard.runs);
  guard.reindex(0);
  expect(await runHere(run, guard.env)).toMatchObject({ code: 0 });
  const { stdout } = await runHere(["restore", join(guard.runs, backup), "--json"], guard.env);
  expect(JSON.parse(stdout)).toMatchObject({ counts: { chunks_updated: 4, chunks_added: 1 } });
});

test.runIf(inFull).each(["DROP MACRO TABLE chunks_at", "DROP TABLE child_chunk_changes", "CREATE SCHEMA memory"])(
  "a backup of guard is restored without the history if it cannot be read: %s",
  async (sql) => {
    const guard = await guarded();
    const run = ["run", ...guard.command.slice(1).filter((word) => !/^(--interval|0\.1)$/.test(word))];
    expect(await runHere([...run, "--format", "jsonl,duckdb"], guard.env)).toMatchObject({ code: 0 });
    const { child, done } = await startGuard(guard, "--yes");
    child.kill("SIGINT");
    await done;
    const [backup = ""] = await readdir(guard.runs);
    const instance = await DuckDBInstance.create(join(guard.runs, "..", "..", "kb", "kb.duckdb"));
    const connection = await instance.connect();
    await connection.run(sql);
    connection.closeSync();
    instance.closeSync();
    guard.reindex(0);
    const { code, stdout } = await runHere(["restore", join(guard.runs, backup), "--json"], guard.env);
    const warnings = sql.startsWith("DROP") ? [expect.stringMatching(/kb\.duckdb was not used: /)] : [];
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { manual_edits: 2, warnings }]);
  },
);

test.runIf(inFull)("guard prints as JSON where the backups are and the result of the restore", async () => {
  const guard = await guarded();
  const { done } = await startGuard(guard, "--yes", "--json");
  guard.reindex();
  const { code, stdout } = await done;
  expect(code).toBe(0);
  const result = JSON.parse(stdout);
  expect(result).toMatchObject({ restore: { status: "proved", counts: { chunks_updated: 1, chunks_added: 1 } } });
  expect([result.backup, result.after]).toEqual([result.restore.run.folder, expect.stringContaining("kb-guard")]);
  const diff = JSON.parse((await runHere(["diff", result.backup, result.after, "--json"])).stdout);
  expect(result.restore).toMatchObject({ lost: diff.lost, manual_edits: 2 });
  expect(diff.manual_edits).toBe(2);
});

test.runIf(inFull)("Ctrl-C while it waits leaves the backup, and says the command that continues from it", async () => {
  const guard = await guarded();
  const { child, done } = await startGuard(guard, "--yes");
  child.kill("SIGINT");
  const { code, stderr } = await done;
  expect(code).toBe(130);
  const [backup = ""] = await readdir(guard.runs);
  const said = stderr.replace(/\s+/g, " ");
  expect(said).toContain(`the backup stays; once no document is being indexed: `);
  expect(said).toContain(`restore ${join(guard.runs, backup)} --apply`);
  guard.reindex(0);
  const restored = await runHere(["restore", join(guard.runs, backup), "--apply", "--yes"], guard.env);
  expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining("restored: 2 of 2; proved") });
});

test.each<[string, (command: readonly string[]) => readonly string[], NodeJS.ProcessEnv, RegExp]>([
  ["no --yes where there is no terminal", (command) => command, {}, /there is no terminal for questions/],
  [
    "a job that writes to a bucket",
    (command) => [...command.slice(0, -1), "s3://bucket/prefix", "--yes"],
    {},
    /guard keeps its backups in a folder.*--out/,
  ],
  ["no document", (command) => [...command.slice(0, -4), "--yes"], {}, /--document: name the documents to guard/],
  [
    "a document that is not there",
    (command) => [...command.map((word) => word.replace(/^72ee/, "00ee")), "--yes"],
    {},
    /document 00ee\S+ cannot be guarded: --document: .*404 not_found/,
  ],
  [
    "no key to write with",
    (command) => [...command, "--yes"],
    { KNOWLEDGE_RESTORE_KEY: undefined },
    /KNOWLEDGE_RESTORE_KEY is not set/,
  ],
  [
    "keys that are empty, all at once",
    (command) => [...command, "--yes"],
    { KNOWLEDGE_API_KEY: "", KNOWLEDGE_RESTORE_KEY: " " },
    /guard cannot start: the variable KNOWLEDGE_API_KEY is not set; guard reads .* KNOWLEDGE_RESTORE_KEY is not set; guard writes/,
  ],
  [
    "no terminal, and no key, all at once",
    (command) => command,
    { KNOWLEDGE_API_KEY: undefined, KNOWLEDGE_RESTORE_KEY: undefined },
    /guard cannot start: --yes: there is no terminal.* KNOWLEDGE_API_KEY is not set.* KNOWLEDGE_RESTORE_KEY is not set/,
  ],
])("%s is said before anything is backed up", async (_, change, less, message) => {
  const { command, env, runs } = await guarded();
  const { code, stderr } = await runHere(change(command), { ...env, ...less });
  expect({ code, stderr: stderr.replace(/\s+/g, " ") }).toEqual({
    code: 2,
    stderr: expect.stringMatching(message),
  });
  await expect(readdir(runs)).rejects.toThrow("ENOENT");
});

test("a document counts as indexed again when its indexing has ended later, or in an error", () => {
  const before = { status: "completed", completedAt: 10 };
  expect(isReindexed(before, before)).toBe(false);
  expect(isReindexed(before, { status: "completed", completedAt: 9 })).toBe(false); // the service was restored to an older state
  expect(isReindexed(before, { status: "indexing", completedAt: null })).toBe(false);
  expect(isReindexed(before, { status: "completed", completedAt: 20 })).toBe(true);
  expect(isReindexed(before, { status: "error", completedAt: null })).toBe(true);
});

test.runIf(inFull)("a re-index that starts during the backup is noticed", async () => {
  const guard = await guarded();
  let isBegun = false;
  guard.onRequest((path) => {
    if (!isBegun && /segments\?page=1&limit=100/.test(path)) guard.reindex();
    isBegun ||= /segments\?page=1&limit=100/.test(path);
    return undefined;
  });
  const { code, stderr } = await runHere([...guard.command, "--yes"], guard.env);
  expect(code).toBe(1);
  const said = stderr.replace(/\s+/g, " ");
  expect(said).toMatch(/was indexed again before the backup was complete|the backup is not complete/);
  expect(said).toMatch(/the backup stays; .*restore \S+ --apply/);
});

test.runIf(inFull)("a re-index does not count as finished while the service does not say so", async () => {
  const guard = await guarded();
  const before = guard.contents();
  const { done } = await startGuard(guard, "--yes");
  let refusals = 0;
  guard.onRequest((path) => (/documents\/[^/]+\?metadata/.test(path) && refusals++ < 5 ? 403 : undefined));
  guard.reindex();
  const { code, stdout, stderr } = await done;
  expect(code, stderr).toBe(0);
  expect(refusals).toBeGreaterThan(5);
  expect(stdout).toContain("restored: 2 of 2; proved");
  expect(guard.contents()).toEqual(before);
});

test("the job of the backups has a name that a job can have", () => {
  expect(["nightly", "n".repeat(100)].map(guardName)).toEqual(["nightly-guard", `${"n".repeat(94)}-guard`]);
});
