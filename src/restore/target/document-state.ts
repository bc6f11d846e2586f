import type { KnowledgeApi } from "../../client/knowledge-api.js";
import { SkipError } from "../../errors.js";
import { documentKey } from "../../rows/document-row.js";
import type { RawRecord } from "../../rows/row.js";
import type { Refusal, Refusals, TargetDocument } from "../target-service.js";

/**
 * Asks the service for the state of documents. Gives the refusals; documents that may be written are not in the map. An older service
 * that does not tell the state of a document refuses the write itself.
 */
export async function readRefusals(api: KnowledgeApi, documents: readonly TargetDocument[]): Promise<Refusals> {
  const refusals = new Map<string, Refusal>();
  const read = async (document: TargetDocument) => {
    const refusal = await refusalOf(api, document);
    if (refusal !== undefined) refusals.set(documentKey(document), refusal);
  };
  await Promise.all(documents.map(read));
  return refusals;
}

/** Which of some documents the service does not have any more, by their keys. */
export async function readGone(api: KnowledgeApi, documents: readonly TargetDocument[]): Promise<ReadonlySet<string>> {
  const refusals = await readRefusals(api, documents);
  return new Set([...refusals].flatMap(([key, refusal]) => (refusal === gone ? [key] : [])));
}

const gone: Refusal = { reason: "The service has no such document any more.", isReadable: false };

async function refusalOf(api: KnowledgeApi, document: TargetDocument): Promise<Refusal | undefined> {
  try {
    return refusalOfState(await api.document(document.dataset_id, document.document_id));
  } catch (error) {
    if (!(error instanceof SkipError)) throw error;
    return error.code === "not_found" ? gone : undefined;
  }
}

/** Why a document in this state takes no chunks, by what the service says of it; undefined if it takes them. */
export function refusalOfState({ indexing_status, enabled, archived }: RawRecord): Refusal | undefined {
  if (typeof indexing_status === "string" && indexing_status !== "completed") {
    const reason = `Its indexing status is ${indexing_status}, and the service takes chunks of completed documents only. Wait for the end of the indexing.`;
    return { reason, isReadable: false };
  }
  if (archived === true) return { reason: "It is archived. Take it out of the archive first.", isReadable: true };
  if (enabled === false) return { reason: "It is disabled. Enable it first.", isReadable: true };
  return undefined;
}
