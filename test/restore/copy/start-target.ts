import { onTestFinished } from "vitest";
import { type Client, openClient } from "../../../src/client/open-client.js";
import type { StoredDataset } from "../../../src/demo/rows.js";
import { startService } from "../../../src/demo/start-service.js";
import type { Row } from "../../../src/rows/row.js";
import { writableKnowledge } from "../../servers/writable/writable-knowledge.js";

/** A dataset in a target, with documents that have these ids. */
export function targetDataset(
  id: string,
  name: string,
  documents: readonly string[] = [],
  more: Row = {},
): StoredDataset {
  const made = documents.map((document, at) => ({
    row: { id: document, name: document, doc_form: "text_model", created_at: at },
    chunks: [],
    embedsChildren: false,
  }));
  return { row: { id, name, ...more }, documents: made, batches: [] };
}

/** A client for a service with these datasets; closed when the test ends. */
export async function startTarget(...datasets: readonly StoredDataset[]): Promise<Client> {
  const service = await startService({ demo: writableKnowledge(datasets, () => new Date()) });
  const client = openClient({ baseUrl: service.url, key: service.key, retries: 0 });
  onTestFinished(async () => {
    await client.close();
    await service.close();
  });
  return client;
}
