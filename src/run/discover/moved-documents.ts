import type { KnowledgeApi } from "../../client/knowledge-api.js";
import { halvingPages, type ReadSizedPage } from "../../crawl/halve-pages.js";
import { ListProof } from "../../crawl/list-proof.js";
import type { LookAhead } from "../../crawl/look-ahead.js";
import { readList } from "../../crawl/read-list.js";
import { SkipError } from "../../errors.js";
import type { Discovery } from "./discovery.js";

/** Documents that changed since they were listed, as far as their length tells. */
export interface MovedDocuments {
  readonly ids: ReadonlySet<string>;
  /** A sentence for every list that could not be asked again. */
  readonly notes: readonly string[];
}

/**
 * Lists the documents again, where they were listed before, and finds those whose `word_count` is another: the service changes
 * it when a chunk is added or deleted, and when one is edited to another length. It is a hint and no proof: other edits leave
 * it as it is. Of a shard, these are its own documents. The lists are read once, without a proof that they are whole, and a list that cannot be read finds nothing.
 */
export async function findMovedDocuments(
  api: Pick<KnowledgeApi, "documents">,
  { found }: Discovery,
  lookAhead: LookAhead,
): Promise<MovedDocuments> {
  const before = new Map(found?.rows.map(({ document_id, word_count }) => [document_id, word_count]));
  const lists = new Set(found?.rows.map(({ dataset_id: id }) => String(id)));
  const ids = new Set<string>();
  const notes: string[] = [];
  const compare = async (datasetId: string) => {
    try {
      const read: ReadSizedPage = (page, limit) => api.documents(datasetId, page, limit);
      const readPage = halvingPages(read, { name: "documents", problem: () => {} });
      const proof = new ListProof("documents", () => {});
      for await (const page of readList(readPage, lookAhead)) {
        for (const { id, word_count: now } of proof.add(page)) {
          const then = before.get(id);
          if (typeof then === "number" && typeof now === "number" && then !== now) ids.add(id);
        }
        if (proof.isStuck) break;
      }
    } catch (error) {
      if (!(error instanceof SkipError)) throw error;
      notes.push(
        `the documents of dataset ${datasetId} could not be listed again, so that no further look was taken at those that changed: ${error.message}`,
      );
    }
  };
  await Promise.all([...lists].map(compare));
  return { ids, notes };
}
