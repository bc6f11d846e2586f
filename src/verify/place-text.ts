import type { Kind } from "../rows/columns.js";

/** `child chunk … of chunk … of document …`, for people. The row is one of a table that was loaded. */
export function placeText(kind: Kind, row: Readonly<Record<string, unknown>>): string {
  const { dataset_id: dataset, document_id: document, parent, id } = row;
  switch (kind) {
    case "chunks":
      return `chunk ${id} of document ${document}`;
    case "child_chunks":
      return `child chunk ${id} of chunk ${parent} of document ${document}`;
    case "documents":
    case "document_info":
    case "document_details":
      return `document ${document} of dataset ${dataset}`;
    case "indexing_status":
      return `document ${document} of batch ${parent} at ${id}`;
    case "datasets":
      return `dataset ${dataset}`;
    case "metadata_fields":
      return `field ${id} of dataset ${dataset}`;
  }
}
