import fc from "fast-check";
import { expect, test } from "vitest";
import type { ChunkWithChildren } from "../../../src/compare/document-rows.js";
import { loadDocumentRows } from "../../../src/compare/load-document-rows.js";
import { withSpill } from "../../../src/duckdb/open-duckdb.js";
import type { Dump } from "../../../src/dump/open-dump.js";
import { chunkReader, keepComing, readDump } from "../../../src/restore/copy/read-dump.js";
import { documentKey, type Row } from "../../../src/rows/row.js";
import { child, chunk } from "../../compare/lost/lost-dumps.js";
import { allOf } from "../../compare/proof/paired.js";
import { rounds } from "../../rounds.js";
import { detailedDump } from "./detailed-dumps.js";

const options = { memory: "200MB", signal: new AbortController().signal };

/** For every document: the counts and attachments that `readDump` found, all chunks, and the chunks that a copy would write. */
async function readBoth(dump: Dump) {
  const reading = await readDump(dump, { ...options, isSameService: true, canUpload: true });
  const rows = new Map(reading.documents.map((document) => [documentKey(document), document.rows]));
  return withSpill(":memory:", options, async (connection) => {
    const documents = dump.manifest.documents.map((document) => ({ ...document, doc_form: document.doc_form ?? "" }));
    await loadDocumentRows(connection, "old", dump, documents, options);
    const read = await chunkReader(connection, options.signal);
    const all = new Map<string, readonly ChunkWithChildren[]>();
    for (const document of documents) all.set(documentKey(document), await allOf(read(document)));
    await keepComing(connection, documents);
    const both = [];
    for (const document of documents) {
      const found = rows.get(documentKey(document));
      both.push({ document, found, chunks: all.get(documentKey(document)) ?? [], coming: await allOf(read(document)) });
    }
    return both;
  });
}

type Both = Awaited<ReturnType<typeof readBoth>>[number];

/** Whether a text is blank: the service refuses such a text. */
const isBlank = (text: string | null) => (text ?? "").trim() === "";

/** The result that `readBoth` should have, computed from all chunks of the dump. */
function expected({ document: { doc_form, child_chunk_count }, chunks }: Both) {
  const coming = chunks.filter(
    ({ content, answer }) => !isBlank(content) && (doc_form !== "qa_model" || !isBlank(answer)),
  );
  const own = coming.flatMap(({ children }) => children);
  const below = own.filter(({ content }) => !isBlank(content));
  const texts = [
    ...coming.flatMap(({ content, answer }) => [content, answer ?? ""]),
    ...below.map((each) => each.content),
  ];
  const attached = coming.filter(({ attachment_ids }) => attachment_ids.length > 0);
  const ids = [...new Set(attached.flatMap(({ attachment_ids }) => attachment_ids))];
  const counts = {
    chunks: coming.length,
    disabled: coming.filter(({ enabled }) => !enabled).length,
    summaries: coming.filter(({ summary }) => summary !== null).length,
    lost_chunks: chunks.length - coming.length,
    children: below.length,
    lost_children: own.length - below.length,
    orphans: child_chunk_count - own.length,
    characters: texts.reduce((sum, text) => sum + [...text].length, 0),
    attachments: ids.map((id) => ({ id, file: null })),
    attached: attached.length,
    losing: 0,
  };
  return {
    counts,
    coming: coming.map((row) => ({ ...row, children: row.children.filter((each) => below.includes(each)) })),
  };
}

const blank = fc.constantFrom(
  "",
  " ",
  "\t",
  "\n\r",
  "\v",
  "\f",
  "\u00a0",
  "\u1680",
  "\u2003\u3000",
  "\u2028\u2029",
  "\ufeff",
);
const nearlyBlank = fc.constantFrom(
  "\u200b",
  "\u0085",
  "\u180e",
  "\u2060",
  " a\ufeff",
  "\ufeff📗\u3000",
  "'",
  "é\u0301",
);
const text = fc.oneof(blank, nearlyBlank, fc.string({ unit: "binary", maxLength: 3 }));
const chunkFields: fc.Arbitrary<Row> = fc.record({
  content: text,
  answer: fc.option(text),
  enabled: fc.constantFrom(true, false, null),
  summary: fc.constantFrom(null, "", "{}", "[]", "In short", '{"text":"x"}'),
  attachments: fc.constantFrom(
    null,
    [],
    [{ id: "f1" }],
    [{ id: "f2" }, { id: "f1" }, { name: "no id" }],
    [{ id: "f3" }, { id: "f3" }],
    [7],
  ),
});
const documentsOfRows = fc.array(fc.tuple(chunkFields, fc.array(text, { maxLength: 3 })), {
  minLength: 40,
  maxLength: 120,
});

test("the plan counts what the copy writes, for all kinds of blanks", async () => {
  await fc.assert(
    fc.asyncProperty(documentsOfRows, async (rows) => {
      const forms = ["text_model", "qa_model", "hierarchical_model"];
      const chunks = rows.map(([fields], at) => chunk(`doc${at % 3}`, `c${at}`, at, "", fields));
      const children = rows.flatMap(([, texts], at) =>
        texts.map((content, index) => child(`doc${at % 3}`, `c${at}`, `k${at}-${index}`, content)),
      );
      const ill = Object.fromEntries(forms.map((doc_form, at) => [`doc${at}`, { doc_form }]));
      for (const both of await readBoth(await detailedDump(chunks, children, { ill }))) {
        const { counts, coming } = expected(both);
        expect(both.found).toMatchObject(counts);
        expect(both.coming).toEqual(coming);
      }
    }),
    { numRuns: rounds(3, 200) },
  );
}, 600_000);

test("only a chunk of a qa_model document needs an answer, and a child chunk is copied only with its chunk", async () => {
  const chunks = [
    chunk("text", "t1", 1, "a", { answer: " " }),
    chunk("qa", "q1", 1, "a question", { answer: "an answer" }),
    chunk("qa", "q2", 2, "a question", { answer: "\u3000" }),
  ];
  const children = [child("qa", "q1", "k1", "x"), child("qa", "q1", "k2", "\ufeff"), child("qa", "q2", "k3", "lost")];
  const both = await readBoth(await detailedDump(chunks, children, { ill: { qa: { doc_form: "qa_model" } } }));
  const of = (id: string) => both.find(({ document }) => document.document_id === id)?.found;
  expect(of("text")).toMatchObject({ chunks: 1, lost_chunks: 0, characters: 2 });
  expect(of("qa")).toMatchObject({
    chunks: 1,
    lost_chunks: 1,
    children: 1,
    lost_children: 1,
    orphans: 1,
    characters: 20,
  });
});
