import type { Connection } from "../../duckdb/open-duckdb.js";
import { streamTexts } from "../../duckdb/stream-texts.js";
import { textIn } from "../../restore/json-fields.js";
import { attachmentIds } from "../../restore/row-from-json.js";
import { documentKey } from "../../rows/document-row.js";
import type { AttachmentPlan, FilePlan } from "../move-plan.js";

/** The attachments of the chunks of a document that come. */
export interface DocumentAttachments {
  /** Those that can be bound, each once, in the order of the chunks. */
  readonly plans: readonly AttachmentPlan[];
  /** Chunks that some are bound to. */
  readonly attached: number;
  /** Chunks that lose some. */
  readonly losing: number;
}

/** Those of a document that has none. */
export const noAttachments: DocumentAttachments = { plans: [], attached: 0, losing: 0 };

export interface AttachmentSource {
  /** The service has the files already, under the same ids. */
  readonly isSameService: boolean;
  /** The files that the dump has, by the ids of the attachments. */
  readonly files: ReadonlyMap<string, FilePlan>;
}

/** The same while it is read; the plans by their ids. */
interface Collected {
  readonly plans: Map<string, AttachmentPlan>;
  attached: number;
  losing: number;
}

/** Reads the attachments in the tables of `loadFacts`, by `documentKey`. A document without any is not there. */
export async function readAttachments(
  connection: Connection,
  source: AttachmentSource,
): Promise<ReadonlyMap<string, DocumentAttachments>> {
  const found = new Map<string, Collected>();
  const row = `to_json({'dataset_id': dataset_id, 'document_id': document_id, 'attachments': attachments})::VARCHAR`;
  const rows = `(FROM chunk_facts WHERE comes AND attachments IS NOT NULL ORDER BY row)`;
  for await (const texts of streamTexts(connection, row, rows)) for (const text of texts) collect(found, text, source);
  return new Map([...found].map(([key, own]) => [key, { ...own, plans: [...own.plans.values()] }]));
}

/** Adds the attachments of one chunk. */
function collect(found: Map<string, Collected>, text: string, source: AttachmentSource): void {
  const row: { dataset_id?: unknown; document_id?: unknown; attachments?: unknown } = JSON.parse(text);
  const key = documentKey(row);
  const own = found.get(key) ?? { plans: new Map(), attached: 0, losing: 0 };
  const ids = attachmentIds(textIn(row.attachments));
  const plans = ids.map((id) => planOf(id, source)).filter((plan) => plan !== undefined);
  if (plans.length > 0) own.attached++;
  if (plans.length < ids.length) own.losing++;
  for (const plan of plans) own.plans.set(plan.id, plan);
  found.set(key, own);
}

function planOf(id: string, { isSameService, files }: AttachmentSource): AttachmentPlan | undefined {
  if (isSameService) return { id, file: null };
  const file = files.get(id);
  return file && { id, file };
}
