import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { jsonlText } from "../../src/dump/formats/jsonl.js";
import { encodeLines } from "../../src/files/lines.js";
import { columns } from "../../src/rows/columns.js";
import { plainFolder } from "../dump/formats/folder.js";
import { sqlTypes } from "../dump/formats/read-back.js";
import { rounds } from "../rounds.js";
import { childrenOf, chunksOf, edited, edits, firstKnowledge, type Knowledge, outcomes } from "./changing-knowledge.js";
import { JobDatabase, read } from "./job-database.js";
import { query, quoted } from "./query.js";

const kinds = ["chunks", "child_chunks"] as const;
type Kind = (typeof kinds)[number];

interface PastRun {
  readonly id: string;
  readonly files: Readonly<Record<Kind, string>>;
}

/** The rows that a run reads from the service, as tables, and all rows that the database should have after it. */
function readBy(service: Knowledge, kept: Knowledge, complete: Set<string>, outcome: Readonly<Record<string, string>>) {
  const given = new Map([...service].filter(([id]) => outcome[id] === "complete" || outcome[id] === "unstable"));
  const taken = [...given].filter(([id]) => outcome[id] === "complete" || !complete.has(id));
  for (const [id] of taken) if (outcome[id] === "complete") complete.add(id);
  const documents = [...service.keys()].filter((id) => outcome[id] !== "absent");
  const tables = {
    chunks: chunksOf(given),
    child_chunks: childrenOf(given),
    documents: documents.map((id) => read(id, outcome[id])),
  };
  return { tables, kept: new Map([...kept, ...taken]) };
}

async function written(folder: string, id: string, kept: Knowledge): Promise<PastRun> {
  const files = { chunks: join(folder, `${id}.chunks.jsonl`), child_chunks: join(folder, `${id}.child_chunks.jsonl`) };
  await writeFile(files.chunks, encodeLines(jsonlText.texts("chunks", chunksOf(kept))));
  await writeFile(files.child_chunks, encodeLines(jsonlText.texts("child_chunks", childrenOf(kept))));
  return { id, files };
}

/** SQL for the rows that differ between the state at a run and the file with the expected rows. */
function differences(kind: Kind, { id, files }: PastRun): string {
  const isJson = (type: string) => type === "list" || type === "object" || type === "any";
  const fields = columns[kind].map(({ name, type }) => `"${name}": '${isJson(type) ? "JSON" : sqlTypes[type]}'`);
  const values = columns[kind].map(({ name, type }) =>
    type === "any"
      ? `CASE WHEN json_type("${name}") = 'VARCHAR' THEN "${name}" ->> '$' ELSE "${name}"::VARCHAR END`
      : name,
  );
  const file = `SELECT ${values} FROM read_json(${quoted(files[kind])}, format = 'newline_delimited', columns = {${fields}})`;
  const at = `SELECT * FROM ${kind}_at('${id}')`;
  return `SELECT '${id}', 'not at that time', t::VARCHAR FROM (${at} EXCEPT ALL ${file}) t
    UNION ALL SELECT '${id}', 'missing', t::VARCHAR FROM (${file} EXCEPT ALL ${at}) t`;
}

/** KBDUMP_HISTORY_ROUNDS sets the number of histories. */
const histories = rounds(1, 4, "KBDUMP_HISTORY_ROUNDS");

it("the state at every run is what that run wrote, and the last good state of documents that it did not read completely", {
  timeout: 300_000,
}, async () => {
  const step = fc.record({ edits, outcome: outcomes, back: fc.nat({ max: 7 }) });
  const property = fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 5 }), async (steps) => {
    const [folder, database] = [await plainFolder(), await JobDatabase.create()];
    const first = firstKnowledge();
    let [service, kept]: Knowledge[] = [first, new Map()];
    const complete = new Set<string>();
    const runs: PastRun[] = [];
    for (const [at, { edits, outcome, back }] of steps.entries()) {
      service = edits.reduce(edited, back === 0 ? first : (service ?? first));
      const done = readBy(service, kept ?? new Map(), complete, outcome);
      kept = done.kept;
      await database.run(`r${at}`, done.tables);
      runs.push(await written(folder, `r${at}`, kept));
    }
    const found = runs.flatMap((run) => kinds.map((kind) => differences(kind, run)));
    expect(await database.query(found.join(" UNION ALL "))).toEqual([]);
    const last = await query("SELECT count(*)::INTEGER FROM chunks", database.path);
    expect(last).toEqual([[chunksOf(kept ?? first).length]]);
  });
  await fc.assert(property, { numRuns: histories, endOnFailure: true });
});
