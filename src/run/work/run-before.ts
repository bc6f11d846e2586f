import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Manifest } from "../../dump/manifest/manifest.js";
import { readManifest } from "../../dump/manifest/read-manifest.js";
import { isRunId } from "../../dump/manifest/run-id.js";
import type { Workspace } from "./workspace.js";

/** The newest run that is published; one whose manifest cannot be read is passed over. */
export async function runBefore(
  { runs, runId }: Pick<Workspace, "runs" | "runId">,
  job: string,
): Promise<Manifest | undefined> {
  const names = (await readdir(runs)).filter((name) => isRunId(name) && name < runId);
  for (const name of names.sort().reverse()) {
    const manifest = (await readManifest(join(runs, name)).catch(() => undefined))?.manifest;
    if (manifest?.job === job && manifest.run_id === name) return manifest;
  }
  return undefined;
}
