import type { Listed } from "../../client/check-list.js";
import type { KnowledgeApi } from "../../client/knowledge-api.js";
import { LookAhead } from "../../crawl/look-ahead.js";
import { readList } from "../../crawl/read-list.js";
import { SkipError } from "../../errors.js";
import { nameAndId } from "../../words.js";
import { datasetIdOf } from "../dataset-key.js";
import type { JournalFacts } from "../journal-facts.js";
import type { MoveDifference } from "../moved.js";

/**
 * Finds documents, in the datasets that a move made, that the journal does not know: somebody else's, or a copy whose request arrived when
 * nobody waited for it any more. Datasets that the owner named may have others.
 */
export async function findStrangers(
  api: Pick<KnowledgeApi, "documents">,
  { datasets, documents }: Pick<JournalFacts, "datasets" | "documents">,
): Promise<readonly MoveDifference[]> {
  const made = new Set([...documents.values()].map(({ target_id }) => target_id));
  const differences: MoveDifference[] = [];
  for (const [key, { id, adopted }] of datasets) {
    if (adopted) continue;
    for (const row of await listDocuments(api, id)) {
      if (made.has(row.id)) continue;
      const reason = `it has a document that this restore did not make: ${nameAndId(String(row.name ?? ""), row.id)}`;
      differences.push({ level: "dataset", document_id: null, id: datasetIdOf(key), position: null, reason });
    }
  }
  return differences;
}

/** The documents of a dataset; none where the service does not have it any more, which every copy tells by itself. */
async function listDocuments(api: Pick<KnowledgeApi, "documents">, datasetId: string): Promise<readonly Listed[]> {
  const all: Listed[] = [];
  try {
    for await (const { rows } of readList((page) => api.documents(datasetId, page), new LookAhead(1)))
      all.push(...rows);
  } catch (error) {
    if (!(error instanceof SkipError && error.status === 404)) throw error;
  }
  return all;
}
