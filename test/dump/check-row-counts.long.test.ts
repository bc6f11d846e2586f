import { expect, test } from "vitest";
import { loadDocumentRows } from "../../src/compare/load-document-rows.js";
import { withSpill } from "../../src/duckdb/open-duckdb.js";
import type { CheckedTable, Dump } from "../../src/dump/open-dump.js";
import { StopError } from "../../src/errors.js";
import { copyRun } from "../../src/restore/copy/copy-run.js";
import { readDump } from "../../src/restore/copy/read-dump.js";
import { child, chunk, dumpOf, lostOf, tablesOf } from "../compare/lost/lost-dumps.js";
import { copying } from "../restore/copy/copying.js";
import { dumpWithDetails } from "../restore/copy/detailed-dumps.js";
import { forgeLines } from "../verify/forge.js";
import { ids, startDatasets, threeDatasets } from "./partition/datasets.js";

const options = { memory: "200MB", signal: new AbortController().signal };

/** Every way in which a restore or copy loads the rows of a dump. */
const loads: Readonly<Record<string, (dump: Dump) => Promise<unknown>>> = {
  "rows of documents": (dump) =>
    withSpill(":memory:", options, (connection) =>
      loadDocumentRows(connection, "old", dump, dump.manifest.documents, options),
    ),
  "the plan of a copy": (dump) => readDump(dump, { ...options, isSameService: true, canUpload: true }),
  "a plan": (dump) => lostOf(dump, dump),
};

/** A dump of two documents with a reader that skips rows. */
async function lossy(kind: string, condition: string): Promise<Dump> {
  const chunks = [chunk("a", "a1", 1, "x"), chunk("a", "a2", 2, "y"), chunk("b", "b1", 1, "z")];
  const dump = await dumpOf(tablesOf(chunks, [child("b", "b1", "k1", "k")]), "20250306T132000000Z");
  const select = dump.select.bind(dump);
  dump.select = async (table: CheckedTable, json: "JSON" | "VARCHAR") => {
    const all = await select(table, json);
    return table.kind === kind ? `SELECT * FROM (${all}) WHERE ${condition}` : all;
  };
  return dump;
}

test.each(Object.keys(loads))("a reader that loses rows is found, where it loads %s", async (name) => {
  const refusal = async (kind: string, condition: string) => {
    const error = await loads[name]?.(await lossy(kind, condition)).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StopError);
    return String(error);
  };
  expect(await refusal("chunks", "id <> 'a2'")).toContain(
    "chunks.jsonl: has 1 row of document a, but the manifest says 2",
  );
  expect(await refusal("chunks", "document_id <> 'b'")).toContain(
    "chunks.jsonl: has 0 rows of document b, but the manifest says 1",
  );
  expect(await refusal("child_chunks", "false")).toContain(
    "child_chunks.jsonl: has 0 rows of document b, but the manifest says 1",
  );
  await loads[name]?.(await lossy("chunks", "true"));
});

test("restore --to plans nothing from a dump with other rows of a document than its manifest says", async () => {
  const { store } = threeDatasets();
  store.datasets.delete(ids.odd); // a service that accepts writes never has such an id
  const { server } = await startDatasets(store);
  const { folder } = await dumpWithDetails(server);
  await forgeLines(folder, "chunks.jsonl", (lines) => [...lines.slice(1), lines.at(-1) ?? ""]);
  await expect(copyRun(copying(folder, server))).rejects.toThrow(/chunks\.jsonl: has \d+ rows? of document \S+, but/);
});
