import type { JobState } from "./job-state.js";
import type { Ended } from "./program.js";

/** The state that a program left, and that its output must not contradict. */
export type Found = Pick<JobState, "runs" | "sound" | "complete" | "latest"> & {
  readonly database: Pick<JobState["database"], "runs">;
};

/** Finds false or unclear messages and wrong exit codes of a program, given the state that it left. */
export function falseWords(end: Ended, found: Found): readonly string[] {
  return [...unclearWords(end), ...falseClaim(end, found)].map((problem) => `${end.name}: ${problem}`);
}

/** The run that a program claims to have published; undefined if it claims none. */
export function claimedRun({ code, stdout, stderr }: Ended, { runs }: Pick<Found, "runs">): string | undefined {
  if (code !== 0 && code !== 3) return undefined;
  const reported = lastObject(stdout)?.run_id;
  if (typeof reported === "string") return reported;
  const named = code === 3 ? (`${stderr}\n${stdout}`.match(/\b\d{8}T\d{9}Z\b/g) ?? []) : [];
  return named.findLast((run) => runs.includes(run)) ?? "without a name";
}

/** Runs that exist although none of these programs claims to have published them. */
export function unclaimedRuns(
  ends: readonly Ended[],
  found: Pick<Found, "runs">,
  before: readonly string[],
): readonly string[] {
  const claimed = ends.map((end) => claimedRun(end, found));
  const unclaimed = found.runs.filter((run) => !before.includes(run) && !claimed.includes(run));
  return unclaimed.map((run) => `runs/${run} is there, and no program says so`);
}

/** Says how a program ended, for the message of a failed test. */
export function endText({ name, pid, code, stderr }: Ended): string {
  return `${name} (process ${pid}) ended with ${code} and said ${JSON.stringify(stderr)}`;
}

function unclearWords({ code, stdout, stderr }: Ended): readonly string[] {
  const problems: string[] = [];
  if (/^\s+at .+:\d+|This is a bug in kbdump/m.test(stderr)) problems.push("tells a stack or a fault of its own");
  if (/ENOENT/.test(stderr)) problems.push("tells a bare ENOENT");
  if (code !== 0 && !/\w/.test(stderr)) problems.push("does not say why it ended so");
  const object = lastObject(stdout);
  if (!object) problems.push("the last line of stdout is not a JSON object");
  if (object && "exit_code" in object && object.exit_code !== code)
    problems.push(`its JSON says exit_code ${object.exit_code}, it is ${code}`);
  return problems;
}

function lastObject(stdout: string): { readonly run_id?: unknown; readonly exit_code?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "");
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function falseClaim(end: Ended, found: Found): readonly string[] {
  const run = claimedRun(end, found) ?? "";
  if (end.code === 0) return [...notThere(run, "complete", found), ...notInPlace(run, found)];
  if (end.code === 3) return [...notThere(run, "sound", found), ...notSaid(end, run, found)];
  if (end.code === 1) return [];
  if (end.code === 5 && /another run of this job is active/.test(end.stderr)) return [];
  return [`must not end with ${end.code}`];
}

function notThere(run: string, must: "sound" | "complete", found: Found): readonly string[] {
  if (!found.runs.includes(run)) return [`says it published run ${run}, which is not in runs/`];
  return found[must].includes(run) ? [] : [`says it published run ${run}, which is not ${must}`];
}

/** For exit 0: `latest` must point to this run or a later one, and the database must contain it. */
function notInPlace(run: string, found: Found): readonly string[] {
  const problems: string[] = [];
  if (!leadsTo(run, found)) problems.push("says complete, but latest leads to no run, or to an earlier one");
  if (!found.database.runs.includes(run)) problems.push("says complete, but the database does not have its run");
  return problems;
}

/** For exit 3 with all documents complete: stderr must name the step that failed. */
function notSaid({ stderr }: Ended, run: string, found: Found): readonly string[] {
  if (!found.complete.includes(run)) return [];
  const [ofLatest, ofDatabase] = [/\blatest\b/.test(stderr), /\bdatabase\b|\.duckdb\b/.test(stderr)];
  const problems: string[] = [];
  if (!ofLatest && !ofDatabase) problems.push("names neither latest nor the database as what was not done");
  if (!ofLatest && !leadsTo(run, found)) problems.push("does not say that latest was not moved");
  if (!ofDatabase && !found.database.runs.includes(run)) problems.push("does not say that the database lacks its run");
  return problems;
}

function leadsTo(run: string, { latest }: Found): boolean {
  return "run" in latest && latest.run >= run;
}
