import { join } from "node:path";
import { stableFiles, type Undisturbed } from "./environment.js";
import type { JobState } from "./job-state.js";
import { faultsWithDatabase } from "./published-files.js";

/** Finds broken promises: whatever went wrong, a reader must find whole runs, a whole database, and the history of before. */
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

/** Finds leftovers that a run must mend; there are none after a run that was not disturbed. */
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

/** Runs but the earlier one whose rows are not, byte for byte, those of an undisturbed run. */
export function otherBytes(state: JobState, earlierRun: string, { hashes }: Undisturbed): readonly string[] {
  const files = state.complete
    .filter((run) => run !== earlierRun)
    .flatMap((run) => stableFiles.map((name) => ({ path: `${run}/${name}`, name })));
  const other = files.filter(({ path, name }) => state.hashes.get(path) !== hashes.get(name));
  return other.map(({ path }) => `runs/${path} differs from that of an undisturbed run`);
}

/** Finds contradictions between the newest run and the database beside it. */
export async function contradictions({ folder, latest }: JobState): Promise<readonly string[]> {
  return "run" in latest ? faultsWithDatabase(join(folder, "runs", latest.run)) : [];
}
