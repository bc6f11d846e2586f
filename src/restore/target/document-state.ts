import type { KnowledgeApi } from "../../client/knowledge-api.js";
import { SkipError } from "../../errors.js";
import { documentKey } from "../../rows/document-row.js";
import type { RawRecord } from "../../rows/row.js";
import type { TargetDocument } from "../target-service.js";

/**
 * Asks the service for the state of documents. Gives, by the key of the document, why nothing may be written to it; documents
 * that may be written are not in the map. An older service that does not tell the state of a document refuses the write itself.
 */
export async function readRefusals(
  api: KnowledgeApi,
  documents: readonly TargetDocument[],
): Promise<ReadonlyMap<string, string>> {
  const refusals = new Map<string, string>();
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

const gone = "The service has no such document any more.";

async function refusalOf(api: KnowledgeApi, document: TargetDocument): Promise<string | undefined> {
  try {
    return refusalOfState(await api.document(document.dataset_id, document.document_id));
  } catch (error) {
    if (!(error instanceof SkipError)) throw error;
    return error.code === "not_found" ? gone : undefined;
  }
}

/** Why a document in this state takes no chunks, by what the service says of it; undefined where it takes them. */
export function refusalOfState({ indexing_status, enabled, archived }: RawRecord): string | undefined {
  if (typeof indexing_status === "string" && indexing_status !== "completed")
    return `Its indexing status is ${indexing_status}, and the service takes chunks of completed documents only. Wait for the end of the indexing.`;
  if (archived === true) return "It is archived. Take it out of the archive first.";
  if (enabled === false) return "It is disabled. Enable it first.";
  return undefined;
}
