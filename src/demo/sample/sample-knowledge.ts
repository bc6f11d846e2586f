import { type DemoKnowledge, demoKnowledge } from "../demo-knowledge.js";
import { DocumentStore } from "../document-store.js";
import { accounts, newDataset, type StoredDataset, sumOf } from "../rows.js";
import { batchUnderWay, restingBatch } from "./batches.js";
import { buildDocument } from "./build-document.js";
import { oddContents } from "./odd-contents.js";
import {
  asOlderServer,
  type DatasetOutline,
  datasetId,
  documentId,
  inEveryStatus,
  tooLong,
  withAttachments,
  withEdits,
  withLanguageHint,
  withLinks,
  withNulls,
  withoutSignedCopy,
  withSummaries,
} from "./outline.js";
import { english, languages } from "./prose.js";

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
    ...{ word_count: sumOf(rows, "word_count"), doc_form: rows[0]?.doc_form ?? null, built_in_field_enabled: true },
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

/** The ids of a sample dataset, for jobs. */
interface SampleDataset {
  readonly id: string;
  readonly documents: readonly string[];
  readonly batches: readonly string[];
}

/** The ids of the sample data, in order, without building any chunk. */
export function sampleDatasets(): readonly SampleDataset[] {
  return outlines.map((outline) => ({
    id: datasetId(outline),
    documents: outline.documents.map(({ name }) => documentId(outline, name)),
    batches: outline.batches.map(({ id }) => id),
  }));
}
