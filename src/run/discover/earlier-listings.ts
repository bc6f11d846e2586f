import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readSharedJson } from "../../dump/files/json-file.js";
import { isRunId } from "../../dump/run-id.js";

/** What an earlier run says of the documents of its datasets. */
export interface EarlierListings {
  readonly runId: string;
  /** Dataset id → the state of its list, and the ids of its documents in the order of that run. */
  readonly datasets: ReadonlyMap<string, { readonly state: unknown; readonly documents: readonly string[] }>;
}

/** The runs before `runId` that asked which documents there are, newest first. What is no manifest is passed over. */
export async function* earlierListings(runs: string, runId: string): AsyncGenerator<EarlierListings> {
  const names = (await readdir(runs)).filter((name) => isRunId(name) && name < runId);
  for (const name of names.sort().reverse()) {
    const datasets = listingsFrom(await readSharedJson(join(runs, name, "manifest.json")));
    if (datasets) yield { runId: name, datasets };
  }
}

/** What a manifest of any version says; undefined where nothing was asked. */
function listingsFrom(manifest: unknown): EarlierListings["datasets"] | undefined {
  const { discovered, documents } = membersOf(manifest);
  const listings = membersOf(discovered).datasets;
  if (!Array.isArray(listings) || !Array.isArray(documents)) return undefined;
  const states = listings.map(membersOf).map(({ dataset_id, state }) => [String(dataset_id), state] as const);
  const found = new Map(states.map(([id, state]) => [id, { state, documents: [] as string[] }]));
  for (const { dataset_id, document_id } of documents.map(membersOf)) {
    found.get(String(dataset_id))?.documents.push(String(document_id));
  }
  return found;
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
