import { mkdir, symlink, truncate } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { Row } from "../../../src/rows/row.js";
import { runHere } from "../../cli/run-here.js";
import { plainFolder } from "../../dump/formats/folder.js";
import { readCsv } from "../../dump/formats/rfc4180.js";
import { inFull } from "../../rounds.js";
import { deleteChunks, reindex } from "../../servers/edits.js";
import { absent, type DumpOptions, dump, smallStore } from "../../verify/dumped.js";
import { child, chunk, info, soundTables } from "../../verify/sound-tables.js";
import { tablesOf, twoDumps } from "./dumps.js";

/** Dumps the store as JSONL only, because most tests of the command need no other format. */
const dumpJsonl = (folder: string, store: ReturnType<typeof smallStore>, options: DumpOptions = {}) =>
  dump(folder, store, { ...options, output: { formats: ["jsonl"] } });

test("the owner of a knowledge base sees what a re-index lost, and what did not change", async () => {
  const store = smallStore();
  const [text] = store.documents;
  const folder = await plainFolder();
  const day = 86_400;
  for (const [at, made] of text.chunks.entries())
    Object.assign(made, { position: at + 1, updated_by: null, created_at: 1_741_267_200 + at });
  const [, , edited, , , removed] = text.chunks;
  Object.assign(edited ?? {}, { content: "A sentence that somebody wrote.", updated_by: "someone" });
  Object.assign(removed ?? {}, { created_at: 1_741_267_200 + 30 * day }); // this alone is no evidence of a manual edit
  const before = await dumpJsonl(folder, store);

  Object.assign(edited ?? {}, { content: "A sentence that the parser wrote.", updated_by: null });
  deleteChunks(text, 5, 1);
  reindex(text, 7);
  await dumpJsonl(folder, store);
  const after = join(dirname(dirname(before.folder)), "latest");

  const table = await runHere(["diff", before.folder, after, "--text"]);
  expect(table.code).toBe(4);
  expect(table.stderr).toMatch(/^warning: these are dumps of different services: [^\n]*\n$/); // the port of the server differs
  const [, manual = "", others = ""] = table.stdout.split(
    /Lost, with manual edits:|Lost, without evidence of a manual edit:/,
  );
  expect(manual).toContain("content: A sentence that [-somebody-]{+the parser+} wrote.");
  expect(manual).toContain(`was ${edited?.id}\n      edited by hand`);
  expect(others).toContain(`removed chunk at 6 ${removed?.id}\n      - `);
  expect(table.stdout).toMatch(/1 document without a difference\n/);
  expect(table.stdout).toMatch(/different: of 2 documents 1 different; 2 rows lost, 1 of them with manual edits\n$/);

  const json = await runHere(["diff", before.folder, after, "--json", "--exit-zero", "--quiet"]);
  expect(json).toMatchObject({ code: 0, stderr: "" });
  expect(json.stdout.trimEnd().split("\n")).toHaveLength(1);
  const diff = JSON.parse(json.stdout);
  expect(diff).toMatchObject({
    status: "different",
    lost: 2,
    manual_edits: 1,
    counts: { chunks: { added: 0, changed: 1, lost: 2, manual_edits: 1 } },
  });
  expect(diff.changes.slice(0, 2).map((change: object) => ({ ...change, old_beginning: "" }))).toMatchObject([
    { kind: "changed", lost: true, manual_edit: "edited", old_id: edited?.id },
    { kind: "removed", lost: true, manual_edit: null, old_id: removed?.id, new_id: null },
  ]);
});

test("a text that an edit replaced counts as lost after a restore of the edit, and diff and report say that the edit is there", async () => {
  const texts = (sign: string, second: string, more: Row = {}) =>
    ["one", second, "three"].map((content, at) =>
      chunk("a", `${sign}${at}`, { content, position: at + 1, enabled: true, ...(at === 1 ? more : {}) }),
    );
  const [old, restored, automatic] = [
    texts("o", "automatic"),
    texts("n", "edited", { updated_by: "ann" }),
    texts("n", "of other settings"),
  ].map((chunks) => tablesOf(chunks));
  const sentence = "In place of 1 of them, the newer run has a text that a person edited or a restore brought back.";
  for (const [fresh = soundTables, isSaid] of [
    [restored, true],
    [automatic, false],
  ] as const) {
    const folders = await twoDumps(old ?? soundTables, fresh);
    const { stdout } = await runHere(["diff", ...folders]);
    expect(stdout).toContain("Lost, without evidence of a manual edit:\n");
    expect(stdout.replace(/\s+/g, " ").includes(sentence)).toBe(isSaid);
    const page = await runHere(["report", folders[1], "--against", folders[0], "--file", "-", "--no-verify"]);
    expect(page.stdout.includes(sentence)).toBe(isSaid);
  }
});

test.runIf(inFull)("0 for the same, in one line, whatever the format", async () => {
  const [old, fresh] = await twoDumps(soundTables, soundTables, [{ formats: ["jsonl"] }, { formats: ["csv"] }]);
  const verdict = "same: 2 documents, 3 chunks, 2 child chunks\n";
  const link = join(dirname(old), "latest");
  await symlink(basename(old), link);
  const twice = await runHere(["diff", link, old]);
  expect(twice).toEqual({ code: 0, stderr: "warning: OLD and NEW are the same run folder\n", stdout: verdict });
  expect(await runHere(["diff", old, fresh, "--quiet"])).toEqual({ code: 0, stderr: "", stdout: verdict });
});

test.runIf(inFull)("--only document: every document and no chunk", async () => {
  const other = { ...soundTables, chunks: soundTables.chunks.map((row) => ({ ...row, content: "other" })) };
  const folders = await twoDumps(soundTables, other);
  const table = (await runHere(["diff", ...folders, "--only", "document"])).stdout;
  expect(table).not.toContain("differences");
  expect(table.split("\n").filter((line) => /^[ab] /.test(line))).toHaveLength(2);
  const csv = await runHere(["diff", ...folders, "--only", "document", "--format", "csv"]);
  expect(csv.code).toBe(4);
  const [head = [], ...rows] = readCsv(csv.stdout);
  expect(rows.map((row) => [row[1], row[2], row[head.indexOf("chunks_changed")]])).toEqual([
    ["a", "different", "2"],
    ["b", "different", "1"],
  ]);
});

test.runIf(inFull)("CSV follows the standard and contains no control characters", async () => {
  const evil = '\u001b[31m,"\n\u202e=1';
  const [old, fresh] = await twoDumps(
    tablesOf(
      [chunk("a", "1"), chunk("a", `2${evil}`, { content: evil, position: 2 })],
      [child("a", "1", "k", { content: evil })],
    ),
    tablesOf([chunk("a", "1", { content: `x ${evil}`, enabled: true })]),
  );
  const { stdout } = await runHere(["diff", old, fresh, "--format", "csv", "--text"]);
  expect(stdout.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  const [head = [], ...rows] = readCsv(stdout);
  const of = (name: string) => rows.map((row) => row[head.indexOf(name)]);
  expect([of("level"), of("kind"), of("fields")]).toEqual([
    ["child_chunk", "chunk", "chunk"],
    ["removed", "removed", "changed"],
    ["", "", "enabled"],
  ]);
  expect([of("lost"), of("manual_edit")]).toEqual([
    ["true", "true", "false"],
    [null, null, null],
  ]);
  expect(of("content_diff")[2]).toMatch(/^\[-text-]\{\+x\+}/);
  const table = (await runHere(["diff", old, fresh, "--text"])).stdout;
  expect(table.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  const json = (await runHere(["diff", old, fresh, "--json", "--text"])).stdout;
  expect(json.trimEnd()).not.toMatch(/[\p{Cc}\u202e]/u);
  expect(JSON.parse(json).changes[1].old_id).toBe(`2${evil}`);
});

test.runIf(inFull)("a document that could not be read is named, with the reason", async () => {
  const store = smallStore();
  const folder = await plainFolder();
  const before = await dumpJsonl(folder, store);
  const documents = [...store.dataset.documents.keys()];
  const after = await dumpJsonl(folder, store, { documents: [...documents, absent] });
  const { code, stdout } = await runHere(["diff", before.folder, after.folder]);
  expect(code).toBe(4);
  expect(stdout).toContain(absent);
  expect(stdout).toMatch(
    / {2}only in the new run\n {2}not compared: it could not be read in the new run \(404 not_found /,
  );
});

test.runIf(inFull)(
  "2 for something that is not a run or not a command line, 1 for a dump that is not sound",
  async () => {
    const [old, fresh] = await twoDumps(soundTables, soundTables);
    const base = dirname(dirname(old));
    await mkdir(join(base, "empty"));
    for (const [args, message] of [
      [[old, fresh, "--format", "csv", "--format", "table"], "--format: given more than once"],
      [[join(base, "empty"), old], "no manifest.json in it"],
      [[old, fresh, "--memory", "lots"], '--memory: got "lots", expected a size'],
    ] as const) {
      const { code, stdout, stderr } = await runHere(["diff", ...args]);
      expect({ code, stdout }, args.join(" ")).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain(message);
    }

    const both = await runHere(["diff", old, fresh, "--json", "--format", "csv"]);
    expect(both.code).toBe(2);
    expect(JSON.parse(both.stdout).error).toContain("--json: not together with --format csv");

    await truncate(join(fresh, "chunks.jsonl"), 3);
    const damaged = await runHere(["diff", old, fresh]);
    expect(damaged).toMatchObject({ code: 1, stdout: "" });
    expect(damaged.stderr).toMatch(/^kbdump: .* is not sound, so nothing was compared:\n {2}chunks.jsonl: has 3 bytes/);
    expect(damaged.stderr).toContain(`kbdump verify ${fresh} shows everything that is wrong with it`);
  },
);

test.runIf(inFull)("--help has examples and the exit codes", async () => {
  const { code, stdout } = await runHere(["diff", "--help"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/Examples:\n {2}kbdump diff /);
  expect(stdout).toContain("4 they differ");
  expect((await runHere(["--help"])).stdout).toContain("kbdump diff <old> [new]");
});

test.runIf(inFull)("documents are named as either run listed them, the newer name first", async () => {
  const old = {
    ...tablesOf([chunk("a", "1", { content: "x" }), chunk("b", "2")]),
    document_info: [info("a"), info("b")],
  };
  const fresh = {
    ...tablesOf([chunk("a", "3", { content: "y" })]),
    document_info: [info("a", { name: "new\u001b[31mname" })],
  };
  const folders = await twoDumps(old, fresh);
  const { stdout } = await runHere(["diff", ...folders]);
  expect(stdout).toMatch(/^a +0 +0 +1 .*\n {2}"new \[31mname"\n/m);
  expect(stdout).toMatch(/^b +0 +1 +0 .*\n {2}"b\.md"\n {2}only in the old run\n/m);
  expect(stdout).toContain('  document "new [31mname" (a)\n');
  const { documents } = JSON.parse((await runHere(["diff", ...folders, "--json"])).stdout);
  expect(documents[1]).toMatchObject({ dataset_name: null, document_id: "b", document_name: "b.md" });
  const csv = readCsv((await runHere(["diff", ...folders, "--only", "document", "--format", "csv"])).stdout);
  expect(csv.map((row) => row.at(-1))).toEqual(["document_name", "new [31mname", "b.md"]);
});
