import { type DemoKnowledge, demoKnowledge } from "../demo-knowledge.js";
import type { WriteOptions } from "../write/write-options.js";
import { buildDataset } from "./build-dataset.js";
import { oddContents } from "./odd-contents.js";
import {
  asOlderServer,
  type DatasetOutline,
  datasetId,
  documentId,
  inEveryStatus,
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
 * indexed again. The batch under way counts the reads of this knowledge alone; `clock` says when they were.
 */
export function sampleKnowledge(clock: () => Date, options: WriteOptions = {}): DemoKnowledge {
  return demoKnowledge(
    outlines.map((outline) => buildDataset(outline, clock)),
    clock,
    options,
  );
}

/** The second dataset: plain text only, long and short documents, older rows, and an import that went wrong. */
const companyHandbook: DatasetOutline = {
  name: "Company handbook",
  description: "Rules for work, leave and travel, in the languages of all offices.",
  technique: "economy",
  documents: [
    {
      name: "Employee handbook.docx",
      form: "text_model",
      topic: "policy",
      chunkCount: 1180,
      peculiarities: [withEdits],
    },
    {
      name: "Travel and expenses.pdf",
      form: "text_model",
      topic: "policy",
      chunkCount: 300,
    },
    { name: "Announcements.txt", form: "text_model", topic: "policy", chunkCount: 0 },
    {
      name: "Handbook of 2019.docx",
      form: "text_model",
      topic: "policy",
      languages: [english],
      chunkCount: 250,
      peculiarities: [withNulls, asOlderServer],
    },
    {
      name: "Works agreements.pdf",
      form: "text_model",
      topic: "policy",
      chunkCount: 200,
      fractionalTimes: true,
    },
    {
      name: "Interrupted import.csv",
      form: "text_model",
      topic: "policy",
      chunkCount: 64,
      peculiarities: [inEveryStatus],
      error: "Embedding failed: the input is too long",
    },
  ],
  batches: [
    {
      id: "20250602093000654321",
      documents: ["Employee handbook.docx", "Travel and expenses.pdf"],
      underWay: true,
    },
    {
      id: "import/März 2025 #3? 100%",
      documents: ["Announcements.txt", "Interrupted import.csv"],
      underWay: false,
    },
  ],
};

const oddTexts = oddContents();
const guideChildren = [250, 101, 100, 1, 0];

/** The first dataset: every document form, both kinds of parents, and the contents that break exports. */
export const productKnowledge: DatasetOutline = {
  name: "Product knowledge",
  description: "Manuals, release notes and support answers for the heating control system.",
  technique: "high_quality",
  documents: [
    {
      name: "Administrator guide.docx",
      form: "hierarchical_model",
      topic: "product",
      chunkCount: 600,
      childCount: (number) => guideChildren[number - 1] ?? number % 4,
      embedsChildren: true,
      peculiarities: [withLinks, withSummaries],
    },
    {
      name: "User manual.pdf",
      form: "hierarchical_model",
      topic: "product",
      chunkCount: 740,
      childCount: (number) => number % 3,
      embedsChildren: true,
      peculiarities: [
        withAttachments,
        withEdits,
        withLanguageHint((number) => languages[(number - 1) % languages.length]?.tag ?? english.tag),
      ],
    },
    {
      name: "Release notes.md",
      form: "hierarchical_model",
      topic: "product",
      languages: [english],
      chunkCount: 1,
      childCount: () => 250,
    },
    {
      name: "Installation leaflets.pdf",
      form: "hierarchical_model",
      topic: "product",
      chunkCount: 40,
      childCount: (number) => number % 25,
      peculiarities: [withLinks],
    },
    {
      name: "Answers of the support team.csv",
      form: "qa_model",
      topic: "support",
      chunkCount: 900,
      peculiarities: [withoutSignedCopy, withEdits],
    },
    {
      name: "Troubleshooting.md",
      form: "text_model",
      topic: "product",
      chunkCount: 700,
      childCount: (number) => (number % 10 === 0 ? 2 : 0),
      peculiarities: [withLinks, withAttachments, withSummaries, withNulls],
    },
    {
      name: "Contents that break exports.txt",
      form: "hierarchical_model",
      topic: "product",
      languages: [english],
      chunkCount: oddTexts.length,
      texts: oddTexts,
      childCount: () => 1,
      embedsChildren: true,
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

/** Every dataset of the sample. */
export const outlines: readonly DatasetOutline[] = [productKnowledge, companyHandbook];

/** The ids of a sample dataset, so that jobs can name them. */
interface SampleDataset {
  readonly id: string;
  readonly documents: readonly string[];
  readonly batches: readonly string[];
}

/** The ids in the sample data, in its order; no chunk is built for them. */
export function sampleDatasets(): readonly SampleDataset[] {
  return outlines.map((outline) => ({
    id: datasetId(outline),
    documents: outline.documents.map(({ name }) => documentId(outline, name)),
    batches: outline.batches.map(({ id }) => id),
  }));
}
