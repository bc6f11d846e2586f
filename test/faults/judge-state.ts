import { join } from "node:path";
import { stableFiles, type Undisturbed } from "./environment.js";
import type { JobState } from "./job-state.js";
import { faultsWithDatabase } from "./published-files.js";

/** Finds broken promises: after any fault, a reader must find whole runs, a sound database, and the earlier history. */
export function brokenPromises(state: JobState, earlierRun: string): readonly string[] {
  const { runs, complete, faults, latest, database } = state;
  const problems = [...faults, ...database.problems];
  if (!runs.includes(earlierRun)) problems.push("the earlier run is gone");
  if ("problem" in latest) problems.push(latest.problem);
  else if (!complete.includes(latest.run)) problems.push(`latest leads to ${latest.run}, which is no complete run`);
  if (database.problems.length > 0) return problems;
  if (!database.runs.includes(earlierRun)) problems.push("the database has lost the earlier run");
  if (database.chunks === 0) problems.push("the database has lost its chunks");
  const unpublished = database.runs.filter((run) => !runs.includes(run));
  if (unpublished.length > 0) problems.push(`the database has ${unpublished}, which is not in runs/`);
  return problems;
}

/** Finds leftovers that the next run must fix; an undisturbed run leaves none. */
export function unfinished({ runs, complete, latest, database, work }: JobState): readonly string[] {
  const problems: string[] = [];
  if ("run" in latest && latest.run !== complete.at(-1))
    problems.push(`latest leads to ${latest.run}, the newest complete run is ${complete.at(-1)}`);
  const lacking = runs.filter((run) => !database.runs.includes(run));
  if (lacking.length > 0) problems.push(`the database lacks ${lacking}`);
  const left = work.filter((name) => name !== "indexing_status" && name !== "fenced");
  if (left.length > 0) problems.push(`left in .work: ${left}`);
  return problems;
}

/** Later runs whose rows differ from those of an undisturbed run, compared byte by byte. */
export function otherBytes(state: JobState, earlierRun: string, { hashes }: Undisturbed): readonly string[] {
  const files = state.complete
    .filter((run) => run !== earlierRun)
    .flatMap((run) => stableFiles.map((name) => ({ path: `${run}/${name}`, name })));
  const other = files.filter(({ path, name }) => state.hashes.get(path) !== hashes.get(name));
  return other.map(({ path }) => `runs/${path} differs from that of an undisturbed run`);
}

/** Finds contradictions between the run that `latest` points to and the database. */
export async function contradictions({ folder, latest }: JobState): Promise<readonly string[]> {
  return "run" in latest ? faultsWithDatabase(join(folder, "runs", latest.run)) : [];
}
