import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { manifestOf } from "../dump/manifest-of.js";

/** Makes run folders like those of real runs, with one file of rows each; `latest` points to the newest complete one. */
export async function makeRuns(
  place: string,
  job: string,
  runs: Readonly<Record<string, "complete" | "partial">>,
): Promise<void> {
  for (const [runId, status] of Object.entries(runs)) {
    const folder = join(place, "runs", runId);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "chunks.jsonl"), "{}\n");
    const files = [{ path: "chunks.jsonl", rows: 1, bytes: 3, sha256: "0".repeat(64) }];
    await writeFile(join(folder, "manifest.json"), JSON.stringify(manifestOf({ job, run_id: runId, status, files })));
  }
  const newest = Object.keys(runs)
    .filter((runId) => runs[runId] === "complete")
    .sort()
    .at(-1);
  if (newest) await symlink(join("runs", newest), join(place, "latest"));
}
