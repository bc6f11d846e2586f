import type { DatasetOutline } from "./outline.js";
import { asOlderServer, inEveryStatus, withEdits, withNulls } from "./peculiarities.js";
import { english } from "./prose/english.js";

/** The second dataset: plain text only, long and short documents, older rows, and an import that went wrong. */
export const companyHandbook: DatasetOutline = {
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
