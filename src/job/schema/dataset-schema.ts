import * as v from "valibot";
import { isMapping } from "../../schema.js";
import { all, text, uuid } from "./leaf.js";
import { list } from "./list.js";
import { mapping } from "./mapping.js";

const documentsText = "a list of document UUIDs, or the word all";
const batchText = "a batch id: text that is not empty, nor . or ..";
const quotedBatchText = 'the batch id in quotes, as in "20250306120000123456": a number loses its last digits';

/** A batch becomes a segment of a URL, where . and .. would lead elsewhere. */
const batch = v.pipe(
  v.string((issue) => (typeof issue.input === "number" ? quotedBatchText : batchText)),
  v.regex(/^(?!\.{0,2}$)/, batchText),
);

/** One dataset of the job: its documents, batches and filters. */
export const datasetSchema = v.pipe(
  mapping("a mapping with id, and documents or batches", {
    id: v.pipe(uuid, v.description("The dataset's id, a UUID.")),
    documents: v.pipe(
      v.nullish(v.union([all, list("documents", "document", documentsText, uuid)], documentsText), []),
      v.description("Ids of the documents to read, or the word all: those that the service lists when the run begins."),
    ),
    batches: v.pipe(
      v.nullish(list("batches", "batch", "a list of batch ids", batch), []),
      v.description(
        "Batches whose indexing status is taken; the creation of a document answered with them. In quotes.",
      ),
    ),
    status: v.pipe(
      v.nullish(
        list("status", "status", "a list of statuses, such as [completed]", text("a status, such as completed")),
        [],
      ),
      v.description("Only chunks of these statuses. Absent or empty: all of them."),
    ),
    keyword: v.pipe(
      v.optional(text("text that is not empty, in quotes where it looks like a number")),
      v.description("Only chunks whose content holds this text."),
    ),
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!isMapping(dataset.value) || !isEmpty(dataset.value.documents) || !isEmpty(dataset.value.batches)) return;
    const input = { ...dataset.value };
    const place = { type: "object", origin: "value", input, key: "documents", value: input.documents } as const;
    addIssue({ message: "at least one document or batch, or the word all for documents", path: [place] });
  }),
);

function isEmpty(items: unknown): boolean {
  return Array.isArray(items) && items.length === 0;
}
