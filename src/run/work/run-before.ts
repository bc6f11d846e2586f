import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Manifest } from "../../dump/manifest/manifest.js";
import { readManifest, readRunFacts } from "../../dump/manifest/read-manifest.js";
import { isRunId } from "../../dump/manifest/run-id.js";
import type { Workspace } from "./workspace.js";

type Place = Pick<Workspace, "runs" | "runId">;

/** The newest run that is published; one whose manifest cannot be read is passed over. */
export async function runBefore({ runs, runId }: Place, job: string): Promise<Manifest | undefined> {
  for (const name of await namesBefore({ runs, runId })) {
    const manifest = (await readManifest(join(runs, name)).catch(() => undefined))?.manifest;
    if (manifest?.job === job && manifest.run_id === name) return manifest;
  }
  return undefined;
}

/** The folder of the newest complete run before this one; undefined where there is none. */
export async function completeRunBefore({ runs, runId }: Place, job: string): Promise<string | undefined> {
  for (const name of await namesBefore({ runs, runId })) {
    const facts = await readRunFacts(join(runs, name));
    if (facts?.job === job && facts.run_id === name && facts.status === "complete") return join(runs, name);
  }
  return undefined;
}

/** The names of the runs before this one, newest first. */
export async function namesBefore({ runs, runId }: Place): Promise<readonly string[]> {
  const names = (await readdir(runs)).filter((name) => isRunId(name) && name < runId);
  return names.sort().reverse();
}
