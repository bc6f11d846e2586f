import { oddContents } from "./odd-contents.js";
import type { DatasetOutline } from "./outline.js";
import {
  withAttachments,
  withEdits,
  withLanguageHint,
  withLinks,
  withNulls,
  withoutSignedCopy,
  withSummaries,
} from "./peculiarities.js";
import { english } from "./prose/english.js";
import { languages } from "./prose/languages.js";

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
