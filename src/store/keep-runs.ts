import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { manifestFormat, manifestName, type RunFacts } from "../dump/manifest.js";
import { otherFormat, readRunFacts } from "../dump/read-manifest.js";
import { isRestoreFolder, timeOfRun } from "../dump/run-id.js";
import { ifAbsent, isThere } from "../files/files.js";
import type { Keep } from "../job/job.js";

export interface PastRun {
  /** The id of the run, which contains its start time (see `timeOfRun`). */
  readonly runId: string;
  readonly status: "complete" | "partial";
  /** Whether the run has no documents because the service listed none. */
  readonly isEmpty?: boolean;
}

/** A rule of `output.keep`, or `newest`, which always applies: the newest complete run stays. */
export type KeepRule = "newest" | "last" | "daily" | "weekly" | "monthly";

/** Whether to keep or remove a run, and why. */
export interface Decision extends PastRun {
  readonly keep: boolean;
  /** Every rule that keeps the run. */
  readonly rules: readonly KeepRule[];
  /** Why it is kept, one text per rule, or one sentence on why it is not. */
  readonly reasons: readonly string[];
}

/**
 * Decides which runs to keep, newest first. A run stays if any rule selects it: `last` selects the newest runs; `daily`,
 * `weekly` and `monthly` select the newest run of each of that many periods with a run. The rules consider only complete runs,
 * so a partial run never replaces a complete one. The newest complete run always stays. So does the newest complete run with
 * documents, so that an emptied knowledge base keeps its last dump. Partial runs older than the newest complete run are
 * removed, because it replaces them. To newer partial runs, the rules apply separately.
 */
export function decideRuns<Run extends PastRun>(runs: readonly Run[], keep: Keep): readonly (Run & Decision)[] {
  const newestFirst = [...runs].sort((a, b) => (a.runId < b.runId ? 1 : -1));
  const complete = newestFirst.filter(({ status }) => status === "complete");
  const [newest] = complete;
  const filled = complete.find(({ isEmpty = false }) => !isEmpty);
  const partial = newestFirst.filter(({ runId, status }) => status === "partial" && (!newest || runId > newest.runId));
  const reasons = new Map([...reasonsFor(complete, keep), ...reasonsFor(partial, keep)]);
  return newestFirst.map((run) => {
    const { runId } = run;
    const always = [
      ...(runId === newest?.runId ? ["newest complete run"] : []),
      ...(runId === filled?.runId && filled !== newest ? ["newest complete run with documents"] : []),
    ].map((text) => ({ rule: "newest" as const, text }));
    const why = [...always, ...(reasons.get(runId) ?? [])];
    const rules = [...new Set(why.map(({ rule }) => rule))];
    if (why.length > 0) return { ...run, keep: true, rules, reasons: why.map(({ text }) => text) };
    return { ...run, keep: false, rules, reasons: [reasonAgainst(run, newest)] };
  });
}

function reasonAgainst({ runId, status }: PastRun, newest: PastRun | undefined): string {
  if (status === "complete") return "no rule keeps it";
  if (newest && runId < newest.runId) return `partial, and the later run ${newest.runId} is complete`;
  return "no rule keeps it among the partial runs since the newest complete one";
}

interface Reason {
  readonly rule: KeepRule;
  readonly text: string;
}

/** The rules that keep each run. The runs must be sorted newest first. */
function reasonsFor(runs: readonly PastRun[], keep: Keep): ReadonlyMap<string, readonly Reason[]> {
  const reasons = new Map<string, Reason[]>();
  const add = (runId: string, rule: KeepRule, text: string) =>
    reasons.set(runId, [...(reasons.get(runId) ?? []), { rule, text }]);
  const { last = 0 } = keep;
  for (const [index, { runId }] of runs.slice(0, last).entries())
    add(runId, "last", `last ${last}: number ${index + 1}`);
  for (const rule of ["daily", "weekly", "monthly"] as const) {
    const seen = new Set<string>();
    for (const { runId } of runs) {
      const period = periodOf[rule](timeOfRun(runId) ?? 0);
      if (seen.size >= (keep[rule] ?? 0) || seen.has(period)) continue;
      seen.add(period);
      add(runId, rule, `${rule} ${keep[rule]}: ${period}`);
    }
  }
  return reasons;
}

const day = 86_400_000;

/** The UTC period of a time: `2026-11-20`, `2026-W47` (ISO 8601), `2026-11`. */
export const periodOf = {
  daily: (time: number) => new Date(time).toISOString().slice(0, 10),
  weekly: isoWeekOf,
  monthly: (time: number) => new Date(time).toISOString().slice(0, 7),
} as const;

/** The ISO week of a time. A week starts on Monday and belongs to the year of its Thursday. */
function isoWeekOf(time: number): string {
  const sinceMonday = (new Date(time).getUTCDay() + 6) % 7;
  const thursday = new Date(time + (3 - sinceMonday) * day);
  const year = thursday.getUTCFullYear();
  const week = 1 + Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * day));
  return `${year}-W${String(week).padStart(2, "0")}`;
}

/** A run of a job in its folder. Null means that the manifest does not say. */
export interface RunFolder extends PastRun {
  /** When the run began, in milliseconds since 1970; null if the manifest does not say. */
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly counts: RunFacts["counts"];
  /** The total bytes of its files, from its manifest. */
  readonly bytes: number;
}

/** An entry in the folder of runs that is not a run of the job, and why. It is never touched. */
export interface Stranger {
  readonly name: string;
  readonly why: string;
}

/** Reads the folder of a job's runs. A run is a folder, not a link, with a manifest that matches it. */
export async function readPastRuns(folder: string, job: string) {
  const names = await readdir(folder).catch(ifAbsent<string[]>([]));
  const [runs, strangers]: [RunFolder[], Stranger[]] = [[], []];
  for (const name of names.filter((name) => !isRestoreFolder(name)).sort()) {
    const found = await runFrom(folder, name, job); // one by one, because a manifest can have many MB
    if (typeof found === "string") strangers.push({ name, why: found });
    else runs.push(found);
  }
  return { runs, strangers };
}

/** The run, or the reason why the folder is not a run. */
async function runFrom(folder: string, name: string, job: string): Promise<RunFolder | string> {
  if (timeOfRun(name) === undefined) return "its name is not a run id";
  const facts = await lstat(join(folder, name));
  if (facts.isSymbolicLink()) return "it is a symbolic link";
  if (!facts.isDirectory()) return "it is not a folder";
  const manifest = await readRunFacts(join(folder, name));
  if (!manifest) {
    const hasManifest = await isThere(join(folder, name, manifestName)).catch(() => true);
    return hasManifest ? "its manifest.json cannot be read" : "it has no manifest.json";
  }
  const { format, job: itsJob, run_id: runId, status, files, originals, counts } = manifest;
  if (format !== manifestFormat) return `its manifest.json ${otherFormat(format)}`;
  if (itsJob !== job) return "it is a run of another job";
  if (runId !== name) return "its manifest.json belongs to another run";
  return {
    runId,
    status,
    startedAt: timeFrom(manifest.started_at),
    finishedAt: timeFrom(manifest.finished_at),
    counts,
    bytes: [...files, ...originals].reduce((sum, { bytes }) => sum + bytes, 0),
    isEmpty: counts.documents === 0,
  };
}

function timeFrom(text: string): number | null {
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : time;
}
