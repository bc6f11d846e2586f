import { onTestFinished } from "vitest";
import { type Client, openClient } from "../../../src/client/open-client.js";
import type { Behaviour, RequestRecord } from "../../servers/behaviour.js";
import type { Fault } from "../../servers/faults.js";
import { type RealisticServer, startRealisticServer } from "../../servers/realistic-server.js";
import { makeDocument, Store, type TestDataset, type TestDocument } from "../../servers/store.js";

export interface Place {
  readonly store: Store;
  readonly server: RealisticServer;
  readonly client: Client;
  /** The datasets, in the order in which the service lists them. */
  readonly datasets: readonly TestDataset[];
}

let seeds = 1000;

/** A document with one chunk, different from all others. */
export function smallDocument(listed: NonNullable<TestDocument["listed"]> = {}, seed = ++seeds): TestDocument {
  return { ...makeDocument({ chunks: 1, seed }), listed };
}

/**
 * A server with datasets of one-chunk documents, and a client for it without retries. `documents` gives the size of each
 * dataset.
 */
export async function startPlace(documents: readonly number[], behaviour: Behaviour = {}): Promise<Place> {
  const store = new Store();
  const datasets = documents.map((count) => store.addDataset(...Array.from({ length: count }, () => smallDocument())));
  const server = await startRealisticServer(store, { resign: false, ...behaviour });
  const client = openClient({ baseUrl: server.url, key: server.key, retries: 0, timeout: 5 });
  onTestFinished(async () => {
    await client.close();
    await server.close();
  });
  return { store, server, client, datasets };
}

/** The ids of the documents in a dataset, newest first, as the service lists them. */
export function idsOf(dataset: TestDataset | undefined): string[] {
  return [...(dataset?.documents.keys() ?? [])].reverse();
}

/** Adds a document to a dataset, as if it was uploaded now; returns its id. */
export function upload(dataset: TestDataset | undefined, document = smallDocument()): string {
  dataset?.documents.set(document.id, document);
  return document.id;
}

/** Returns the requested paths after `/v1`. */
export function askedOf({ server }: Place): string[] {
  return server.requests.map(({ path, query }) => `${path.replace("/v1", "")}?${query}`);
}

/** Answers every request whose path has this ending with an error, worded as by the service. */
export function refusing(ending: string, status: number, code: string, message: string) {
  return ({ path }: RequestRecord): Fault | undefined =>
    path.endsWith(ending) ? { kind: "status", status, code, message } : undefined;
}
