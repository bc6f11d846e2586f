import { basename, join } from "node:path";
import { problemText } from "../file-error.js";
import type { Job } from "../job/job.js";
import { emptyReadTally } from "../read-tally.js";
import { reportName } from "../report/course/place.js";
import { shellText } from "../shell-text.js";
import type { Published } from "./publish-run.js";
import type { RunTally } from "./setting/run-tally.js";
import { lossBehind } from "./work/hold.js";
import { shownPath } from "./work/remote.js";
import { completeRunBefore } from "./work/run-before.js";
import type { Workspace } from "./work/workspace.js";

/** The report of a run. */
export interface Reported {
  /** The file; undefined when it was not asked for, and when it could not be written. */
  readonly report: string | undefined;
  /** A sentence when it could not be written. */
  readonly failures: readonly string[];
}

/**
 * Writes the report of a published run beside the runs of its job, compared with the complete run before it. The file is renamed from our
 * own folder, so that a run that was fenced does not replace the report of its successor. Never rejects, because the run is published.
 */
export async function reportRun(
  job: Job,
  workspace: Workspace,
  { folder }: Pick<Published, "folder">,
  { tally, signal }: { readonly tally: RunTally; readonly signal: AbortSignal },
): Promise<Reported> {
  tally.step = "writing the report";
  const path = join(workspace.folder, reportName);
  try {
    const { writeReport } = await import("../report/course/write-report.js"); // heavy; most runs do without
    const against = await wholeRun(await completeRunBefore(workspace, job.name), workspace, signal);
    const request = { folder, against, memory: job.output.memory, signal, tally: emptyReadTally() };
    await writeReport(path, request, { aside: join(workspace.scratch, reportName) });
    await workspace.remote?.publishReport(path);
    return { report: shownPath(job, path), failures: [] };
  } catch (error) {
    const reason = problemText((await lossBehind(error, workspace)) ?? error);
    const command = `kbdump report ${shellText(shownPath(job, folder))} -o ${shellText(workspace.remote ? reportName : path)}`;
    return { report: undefined, failures: [`the report could not be written (${reason}); ${command} writes it`] };
  }
}

/** The folder of a run with its rows, which a job in a bucket has to fetch. */
async function wholeRun(
  folder: string | undefined,
  { remote, scratch }: Workspace,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!remote || folder === undefined) return folder;
  const whole = join(scratch, basename(folder));
  await remote.fetchRun(basename(folder), whole, signal);
  return whole;
}
