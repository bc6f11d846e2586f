import { afterEach } from "vitest";
import type { Behaviour } from "./behaviour.js";
import type { JsonObject } from "./json.js";
import { type RealisticServer, startRealisticServer } from "./realistic-server.js";
import { type DocumentOptions, makeDocument, Store, type TestDataset, type TestDocument } from "./store.js";

export interface ServedDocument {
  readonly store: Store;
  readonly dataset: TestDataset;
  readonly document: TestDocument;
  readonly server: RealisticServer;
  /** The URL of the document's chunk list, without a query. */
  readonly list: string;
}

const open: RealisticServer[] = [];

/** Starts a server for a dataset with one document; closed after the test. */
export async function serveDocument(options: DocumentOptions, behaviour: Behaviour = {}): Promise<ServedDocument> {
  const [store, document] = [new Store(), makeDocument(options)];
  const dataset = store.addDataset(document);
  const server = await startRealisticServer(store, behaviour);
  open.push(server);
  const list = `${server.url}/datasets/${dataset.id}/documents/${document.id}/segments`;
  return { store, dataset, document, server, list };
}

/** Closes the servers after each test. Call it once in a test file that serves documents. */
export function closeAfterEach(): void {
  afterEach(async () => {
    for (const server of open.splice(0)) await server.close();
  });
}

export interface Got {
  readonly status: number;
  readonly headers: Headers;
  readonly json: JsonObject;
}

/** Sends a GET with the correct key, without following redirects. `json` is empty if the body is not JSON. */
export async function ask(server: RealisticServer, url: string, init: RequestInit = {}): Promise<Got> {
  const headers = { authorization: `Bearer ${server.key}` };
  const response = await fetch(url, { redirect: "manual", headers, ...init });
  const isJson = response.headers.get("content-type") === "application/json";
  const json = isJson ? ((await response.json()) as JsonObject) : {};
  if (!isJson) await response.arrayBuffer();
  return { status: response.status, headers: response.headers, json };
}

/** The ids of the rows of an answer. */
export function idsOf(rows: unknown): string[] {
  return (rows as JsonObject[]).map(({ id }) => String(id));
}
