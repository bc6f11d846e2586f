import type { MetadataField } from "./knowledge.js";

/** The built-in metadata fields, the same for every dataset. */
export const metadataFields: readonly MetadataField[] = [
  { name: "document_name", type: "string" },
  { name: "uploader", type: "string" },
  { name: "upload_date", type: "time" },
  { name: "last_update_date", type: "time" },
  { name: "source", type: "string" },
];
