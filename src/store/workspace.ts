import { join } from "node:path";
import type { Manifest } from "../dump/manifest.js";
import { readManifest } from "../dump/read-manifest.js";
import { type LeasedJob, runIdsIn } from "./folder/job-folders.js";

/** The folders of an active run, in `output/<job>/.work/<token>/<run_id>`. */
export interface Workspace extends LeasedJob {
  readonly runId: string;
  /** The start of the run that began this work. For resumed work, that is an earlier run. */
  readonly startedAt: Date;
  readonly work: string;
  /** The folder of the segments: one file per document, kind and text format, or several small documents in one. */
  readonly segments: string;
  /** The folder that becomes the run folder. */
  readonly stage: string;
  /** Temporary files: unpublished JSONL, DuckDB's spill files, the new database. */
  readonly scratch: string;
}

/** The paths of a run in its owner's folder. Creates nothing. */
export function workspaceIn(leased: LeasedJob, runId: string): Omit<Workspace, "startedAt"> {
  const work = join(leased.own, runId);
  const [segments, stage, scratch] = [join(work, "segments"), join(work, "stage"), join(work, "scratch")];
  return { ...leased, runId, work, segments, stage, scratch };
}

/** The manifest of the newest published run before this one. Skips unreadable manifests. */
export async function runBefore(
  { runs, runId }: Pick<Workspace, "runs" | "runId">,
  job: string,
): Promise<Manifest | undefined> {
  for (const name of await runIdsIn(runs, runId)) {
    const manifest = (await readManifest(join(runs, name)).catch(() => undefined))?.manifest;
    if (manifest?.job === job && manifest.run_id === name) return manifest;
  }
  return undefined;
}
