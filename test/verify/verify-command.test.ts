import { mkdir, readdir, rename, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { runHere } from "../cli/run-here.js";
import { finished, runKbdump, startKbdump } from "../cli/run-kbdump.js";
import { plainFolder } from "../dump/formats/folder.js";
import { inFull } from "../rounds.js";
import { useDump } from "./dumped.js";
import { change, editManifest, forgeLines } from "./forge.js";
import { child, chunk, document, soundTables } from "./sound-tables.js";
import { writeDump } from "./write-dump.js";

const copyOfDump = useDump();

test("0 for a sound dump, in one line", async () => {
  const { run, folder } = await copyOfDump();
  expect(await runHere(["verify", run])).toEqual({
    code: 0,
    stderr: "",
    stdout: "sound: 15 files, 17 chunks, 15 child chunks\n",
  });
  await symlink(run, join(folder, "newest"));
  expect(await runKbdump(["verify", "newest", "--duckdb"], {}, folder)).toEqual({
    code: 0,
    stderr: "",
    stdout: "sound: 15 files, 17 chunks, 15 child chunks, 2 documents of the database\n",
  });
});

test.runIf(inFull)("4 with a line for every finding and their number", async () => {
  const { run, database, folder } = await copyOfDump();
  await truncate(join(run, "documents.csv"), 100);
  const { code, stdout, stderr } = await runHere(["verify", run]);
  expect({ code, stderr }).toEqual({ code: 4, stderr: "" });
  const lines = stdout.trimEnd().split("\n");
  expect(lines[0]).toMatch(/^documents.csv: has 100 bytes instead of \d+$/);
  expect(lines.at(-1)).toBe(`not sound: ${lines.length - 1} findings`);

  await rename(database, join(folder, "other.duckdb"));
  await change(join(folder, "other.duckdb"), "DELETE FROM chunks WHERE rowid < 2");
  const other = await runHere(["verify", run, `--duckdb=${join(folder, "other.duckdb")}`]);
  expect(other.code).toBe(4);
  expect(other.stdout.match(/^other.duckdb: chunk .* is missing; it is row \d of chunks.jsonl$/gm)).toHaveLength(2);
});

test("--json: one object, sound or not", async () => {
  const { run } = await copyOfDump();
  const sound = await runHere(["verify", run, "--json", "--duckdb"]);
  expect(sound).toMatchObject({ code: 0, stderr: "" });
  expect(sound.stdout.trimEnd().split("\n")).toHaveLength(1);
  expect(JSON.parse(sound.stdout)).toMatchObject({
    status: "sound",
    findings: [],
    checked: { files: 15, chunks: 17, child_chunks: 15, database: { documents: 2, read_later: 0 } },
  });
  await writeFile(join(run, "more"), "");
  const different = await runHere(["verify", run, "--json"]);
  expect(different.code).toBe(4);
  expect(JSON.parse(different.stdout)).toMatchObject({
    status: "differences",
    findings: [{ file: "more", message: "is in the folder, but not in manifest.json" }],
    finding_count: 1,
  });
});

test.runIf(inFull)("the note about a dump without files comes before the verdict", async () => {
  const run = await writeDump(await plainFolder(), soundTables, { formats: [] });
  const { stdout } = await runHere(["verify", run]);
  expect(stdout).toMatch(/^note: this folder has no data files: .*\nsound: 0 files, /);
});

test("2 for something that is not a run, with the reason", async () => {
  const folder = await plainFolder();
  const [gone, empty, file] = [join(folder, "gone"), join(folder, "empty"), join(folder, "file")];
  await mkdir(empty);
  await writeFile(file, "");
  for (const [args, message] of [
    [
      ["verify"],
      "kbdump: <run> is missing: run folder, or a job (its newest complete run), or a job and a run, as in nightly@20261119. Example: kbdump verify nightly",
    ],
    [["verify", gone], `kbdump: No such run or job:\n  ${gone}: there is no such file or folder\n`],
    [["verify", empty], `kbdump: Not a finished run folder:\n  ${empty}: no manifest.json in it`],
    [["verify", file], `kbdump: No such run or job:\n  ${file}: it is a file`],
    [["verify", empty, "--memory", "lots"], '--memory: got "lots", expected a size such as 800MB or 2GB'],
    [["verify", empty, "--duckbd"], "unknown flag --duckbd; did you mean --duckdb?"],
  ] as const) {
    const { code, stdout, stderr } = await runHere(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/\n\s+at /);
  }
  const { run, database } = await copyOfDump();
  await rename(database, `${database}.away`);
  expect(await runHere(["verify", run, "--duckdb"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("test.duckdb: there is no such file; --duckdb=PATH names another"),
  });
});

test("1 when memory does not suffice, without a stack", async () => {
  const { run } = await copyOfDump();
  const { code, stderr } = await runHere(["verify", run, "--memory", "2MB"]);
  expect(code).toBe(1);
  expect(stderr).toBe("kbdump: DuckDB needs more than the 2MB that it may use: try again with --memory=2GB or more\n");
});

test.runIf(inFull)("text of the files reaches the terminal without control characters", async () => {
  const evil = "\u001b[31m\u202e\u0007\n\r";
  const children = [child("a", `gone${evil}`, `k${evil}`)];
  const tables = {
    ...soundTables,
    chunks: [chunk(`a${evil}`, "c")],
    child_chunks: children,
    documents: [document("a", 1, 1)],
  };
  const run = await writeDump(await plainFolder(), tables);
  await writeFile(join(run, `file${evil}`), "");
  await forgeLines(run, "metadata_fields.jsonl", () => [evil]);
  await editManifest(run, (manifest) => {
    manifest.files = manifest.files.map((file) => (file.path.startsWith("metadata") ? { ...file, rows: 1 } : file));
  });
  const { code, stdout } = await runHere(["verify", run]);
  expect(code).toBe(4);
  expect(stdout).toContain("gone [31m");
  expect(stdout.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  const json = (await runHere(["verify", run, "--json"])).stdout;
  expect(json.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(JSON.stringify(JSON.parse(json))).toContain(JSON.stringify(`gone${evil}`).slice(1, -1));
  await writeFile(join(run, "manifest.json"), `{"format": "${evil.replace("\n", "")}"`);
  expect((await runHere(["verify", run])).stdout.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

test("--help has an example and the exit codes", async () => {
  const { code, stdout } = await runHere(["verify", "--help"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/Examples:\n {2}kbdump verify /);
  expect(stdout).toContain("Exit codes: 0 sound, and as at the service · 1 could not be checked or compared");
  expect((await runHere(["--help"])).stdout).toContain("kbdump verify <run>");
});

test.runIf(inFull)("SIGINT: exit 130 soon, and not a word on stdout", async () => {
  const run = await writeDump(await plainFolder(), soundTables);
  await forgeLines(run, "chunks.jsonl", ([line = ""]) => Array.from({ length: 100_000 }, () => line));
  const temporary = await plainFolder();
  const child = startKbdump(["verify", run], { TMPDIR: temporary });
  const done = finished(child);
  await vi.waitUntil(async () => (await readdir(temporary)).length > 0, { timeout: 20_000 }); // a temporary file shows that the command has started to read
  const start = performance.now();
  child.kill("SIGINT");
  expect(await done).toEqual({ code: 130, stdout: "", stderr: "kbdump: interrupted by SIGINT\n" });
  expect(performance.now() - start).toBeLessThan(5000);
});
