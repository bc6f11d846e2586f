import type { Row } from "../rows/row.js";
import { nameAndId } from "../words.js";
import type { DocumentNames } from "./discover/discovery.js";
import type { DocumentResult } from "./documents/document-result.js";

/** The part of a run that the indexing status can contradict. */
export interface StatusFacts {
  readonly before: { readonly rows: readonly Row[] };
  readonly after: { readonly rows: readonly Row[] };
  readonly documents: readonly DocumentResult[];
  /** The rows of the list of documents, where it was read: older than every other reading. */
  readonly listed?: readonly Row[];
  readonly names?: DocumentNames;
}

const resting = new Set(["completed", "error"]);

/**
 * Warns of what the indexing status says against a dump: documents that were being indexed or whose status changed while they
 * were read, and completed documents without a chunk. `filtered` says of a dataset that only some of its chunks were asked for.
 */
export function statusWarnings(
  { before, after, documents, listed = [], names = new Map() }: StatusFacts,
  filtered: (datasetId: string) => boolean,
): readonly string[] {
  const known = listed.filter(({ indexing_status: status }) => status !== null);
  const [first, last] = [statusOf([...known, ...before.rows]), statusOf(after.rows)];
  return documents.flatMap(({ row }) => {
    const id = row.document_id;
    const document = `document ${nameAndId(names.get(id), id)}`;
    const [was, is] = [first.get(id), last.get(id)];
    if (was !== undefined && is !== undefined && was !== is) {
      return [`${document}: its indexing status went from ${was} to ${is} during the run`];
    }
    const status = is ?? was;
    if (status === undefined) return [];
    if (status === "paused") return [`${document}: its indexing is paused, so its chunks are not final`];
    if (!resting.has(status)) return [`${document}: it is being indexed (${status}), so its chunks are not final`];
    const empty = status === "completed" && row.status === "complete" && row.total === 0;
    return empty && !filtered(row.dataset_id) ? [`${document}: its indexing is completed, and it has no chunks`] : [];
  });
}

/** The status of every document, of the last entry where there are several. */
function statusOf(rows: readonly Row[]): ReadonlyMap<string, string> {
  return new Map(rows.map((row) => [String(row.document_id), String(row.indexing_status ?? "unknown")]));
}
