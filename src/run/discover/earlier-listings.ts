import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { RunFacts } from "../../dump/manifest/manifest.js";
import { readRunFacts } from "../../dump/manifest/read-manifest.js";
import { isRunId } from "../../dump/manifest/run-id.js";

/** The documents of the datasets of an earlier run. */
export interface EarlierListings {
  readonly runId: string;
  /** Dataset id → the state of its list, and the ids of its documents in the order of that run. */
  readonly datasets: ReadonlyMap<string, { readonly state: string; readonly documents: readonly string[] }>;
}

/** The runs before `runId` that asked which documents there are, newest first. A folder whose manifest cannot be read is passed over. */
export async function* earlierListings(runs: string, runId: string): AsyncGenerator<EarlierListings> {
  const names = (await readdir(runs)).filter((name) => isRunId(name) && name < runId);
  for (const name of names.sort().reverse()) {
    const datasets = listingsIn(await readRunFacts(join(runs, name)));
    if (datasets) yield { runId: name, datasets };
  }
}

/** Undefined where nothing was asked. */
function listingsIn(manifest: RunFacts | undefined): EarlierListings["datasets"] | undefined {
  if (!manifest?.discovered) return undefined;
  const found = new Map(
    manifest.discovered.datasets.map(({ dataset_id, state }) => [dataset_id, { state, documents: [] as string[] }]),
  );
  for (const { dataset_id, document_id } of manifest.documents) found.get(dataset_id)?.documents.push(document_id);
  return found;
}
