import { readFile, realpath } from "node:fs/promises";
import { basename, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startService } from "../../src/demo/start-service.js";
import { runHere } from "../cli/run-here.js";
import { jobFile, testFolder } from "../run/job-for.js";
import { query, type Rows, readJsonl } from "../run/read-dump.js";

const dataset = "be707760-4d1d-4f33-b3ad-f9bace31e975";
const manual = "1e63378f-0ff6-41a4-8f48-687d51b4e63d"; // a document whose chunks have manual edits
const parents = "38277434-a0b5-4540-ad6f-d3ed63cd4e2d"; // a document with paragraph parents
const absent = "00000000-0000-4000-8000-00000000dead";

/** The program and the embedded service; `run` returns the run folder. */
async function nightly() {
  const [folder, service] = [await testFolder(), await startService()];
  onTestFinished(() => service.close());
  const env = { KNOWLEDGE_API_KEY: service.key };
  const output = join(folder, "out", "test");
  const run = async (documents: readonly string[], code: number) => {
    const job = { service: { base_url: service.url }, datasets: [{ id: dataset, documents }], child_chunks: "auto" };
    const ended = await runHere(["run", await jobFile(folder, job), "--quiet", "--json"], env);
    expect(ended.code, ended.stderr).toBe(code);
    return String(JSON.parse(ended.stdout.trimEnd().split("\n").at(-1) ?? "").folder);
  };
  const reindex = async (document: string) => {
    const headers = { authorization: `Bearer ${service.key}` };
    const url = new URL(`/demo/reindex/${document}?seconds=0`, service.url);
    expect((await fetch(url, { method: "POST", headers })).status).toBe(202);
  };
  const kbdump = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await runHere([...args, "--out", join(folder, "out"), "--quiet"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return stdout;
  };
  return { run, reindex, kbdump, ask: (sql: string) => query(sql, join(output, "test.duckdb")) };
}

const sorted = (rows: Rows) => rows.map((row) => JSON.stringify(Object.entries(row).sort())).sort();

test("the analyst opens the database after a re-index and reads what changed, what was lost, and the earlier state", {
  timeout: 120_000,
}, async () => {
  const { run, reindex, ask, kbdump } = await nightly();
  const before = await run([manual, parents], 0);
  await reindex(manual);
  const after = await run([manual, parents, absent], 3);
  const [first, second] = [basename(before), basename(after)];

  // What is in the dump? What changed between the runs?
  const [oldRows, newRows] = [await readJsonl(before, "chunks"), await readJsonl(after, "chunks")];
  const ofManual = (rows: Rows) => rows.filter(({ document_id }) => document_id === manual);
  const contents = new Set(ofManual(newRows).map(({ content }) => content));
  const edited = ofManual(oldRows).filter(({ updated_by }) => updated_by !== null);
  expect(edited.length).toBeGreaterThan(1);
  const [changes] = await ask(`SELECT * REPLACE (NULL AS started_at) FROM changes_per_run WHERE run_id = '${second}'`);
  const count = (name: string) => Number(changes?.[name]);
  expect(count("removed") - count("added")).toBe(oldRows.length - newRows.length);
  expect(count("removed") + count("changed")).toBe(edited.length);
  expect(count("switched")).toBeGreaterThan(0); // chunks that people had disabled are enabled again
  const ofNow = ["added", "changed", "switched", "reindexed"].map(count);
  expect(ofNow.reduce((sum, each) => sum + each)).toBe(ofManual(newRows).length);
  expect(count("reindexed")).toBeGreaterThan(edited.length);

  // Which manual texts are missing or different?
  const manualRows = await ask(
    `SELECT content FROM chunk_changes WHERE updated_by IS NOT NULL AND change IN ('removed', 'changed')`,
  );
  expect(manualRows.map(({ content }) => content).sort()).toEqual(edited.map(({ content }) => content).sort());
  const edits = await ask(`FROM edits WHERE run_id = '${second}'`);
  expect(edits.length).toBe(count("changed"));
  for (const { after: is } of edits) expect(contents).toContain(is);

  // What was retrieved? A re-index resets the counts to 0, which is not a loss.
  expect(await ask("SELECT count(*)::INTEGER AS n FROM hits WHERE gained < 0")).toEqual([{ n: 0 }]);
  const zero = ofManual(oldRows).filter(({ hit_count }) => hit_count === 0).length;
  const [neverHit] = await ask(`SELECT count(*)::INTEGER AS n FROM never_hit WHERE document_id = '${manual}'`);
  expect(Number(neverHit?.n)).toBeLessThanOrEqual(zero + count("added"));

  // What changed, printed by kbdump itself: for a spreadsheet, and for a program.
  const sheet = await kbdump(
    "sql",
    "test",
    "SELECT document_name, before, after FROM edits ORDER BY ALL",
    "--format",
    "csv",
  );
  expect(sheet.split("\n").length).toBeGreaterThan(count("changed"));
  const answer = JSON.parse(await kbdump("sql", "test", `FROM changes_per_run WHERE run_id = '${second}'`, "--json"));
  expect(answer).toMatchObject({ status: "ok", row_count: 1, rows: [{ changed: count("changed") }] });

  // What exactly did the first run contain?
  for (const [id, folder] of [
    [first, before],
    [second, after],
  ] as const) {
    for (const kind of ["chunks", "child_chunks"]) {
      const file = join(await realpath(folder), `${kind}.jsonl`);
      const types = `SELECT string_agg('"' || column_name || '": ''' || data_type || '''', ', ') AS types FROM duckdb_columns()
        WHERE table_name = '${kind}' AND column_name <> 'run_id'`;
      const [{ types: columns } = {}] = await ask(types);
      const written = await ask(
        `SELECT to_json(t)::VARCHAR AS row FROM read_json('${file}', format = 'newline_delimited', columns = {${columns}}) t`,
      );
      const then = await ask(`SELECT to_json(t)::VARCHAR AS row FROM ${kind}_at('${id}') t`);
      expect(written.length).toBe((await readFile(file, "utf8")).split("\n").length - 1);
      expect(sorted(then)).toEqual(sorted(written));
    }
  }

  // Is every document fresh?
  expect(await ask("SELECT document_id, state, good_run, reason FROM coverage ORDER BY state, document_id")).toEqual([
    { document_id: manual, state: "fresh", good_run: second, reason: null },
    { document_id: parents, state: "fresh", good_run: second, reason: null },
    { document_id: absent, state: "never read", good_run: null, reason: expect.stringContaining("404") },
  ]);
});
