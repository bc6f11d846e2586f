import type { Environment, Place, Undisturbed } from "./environment.js";
import { type JobState, readState } from "./job-state.js";
import { brokenPromises, contradictions, otherBytes, unfinished } from "./judge-state.js";
import { claimedRun, endText, falseWords, unclaimedRuns } from "./judge-words.js";
import { type Ended, runProgram } from "./program.js";
import { changedFiles } from "./published-files.js";

/** Two programs, A and B, that ran on the same output, and what they left. */
export interface Rivals {
  readonly environment: Environment;
  readonly place: Place;
  readonly undisturbed: Undisturbed;
  /** How A and B ended. */
  readonly ends: readonly Ended[];
  /** The hash of every published file when a program first reported success. A file that changed later is an error. */
  readonly published: ReadonlyMap<string, string>;
  readonly bMustSucceed: boolean;
}

/** Lists every broken promise. If A and B left something unfinished, an undisturbed run C must fix it. */
export async function judgeRivals(rivals: Rivals): Promise<readonly string[]> {
  const { environment, place, undisturbed, ends, published, bMustSucceed } = rivals;
  const state = await readState(place.job);
  const problems = [
    ...ends.flatMap((end) => falseWords(end, state)),
    ...ends.flatMap((end) => unnamedSuccessor(end, ends)),
    ...unclaimedRuns(ends, state, environment.before.runs),
    ...claimedTwice(ends, state),
    ...brokenPromises(state, environment.earlierRun),
    ...changed("after the end of B", published, state),
    ...(bMustSucceed && ends.some(({ name, code }) => name === "B" && code !== 0) ? ["B must succeed"] : []),
  ];
  const mended = problems.length > 0 || unfinished(state).length > 0 ? await mend(rivals, state, problems) : state;
  problems.push(...otherBytes(mended, environment.earlierRun, undisturbed), ...(await contradictions(mended)));
  return problems.length === 0 ? [] : [...problems, ...ends.map(endText)];
}

async function mend({ environment, place }: Rivals, before: JobState, problems: string[]): Promise<JobState> {
  const end = await runProgram("C", environment.args(place), environment.env);
  const state = await readState(place.job);
  const found = [
    ...(end.code === 0 ? [] : ["C must succeed", endText(end)]),
    ...falseWords(end, state),
    ...unclaimedRuns([end], state, before.runs),
    ...brokenPromises(state, environment.earlierRun),
    ...unfinished(state),
    ...changed("when C ran", before.hashes, state),
  ];
  problems.push(...found.map((problem) => `after C: ${problem}`));
  return state;
}

/** Reports a run that lost the job to another one, if its message does not name that run. */
function unnamedSuccessor({ name, code, stderr }: Ended, ends: readonly Ended[]): readonly string[] {
  if (code !== 1) return [];
  const other = ends.find((end) => end.name !== name);
  const words = /taken over|took over|takes over/.test(stderr);
  if (words && new RegExp(`\\b${other?.pid}\\b`).test(stderr)) return [];
  return [`${name} does not say that process ${other?.pid} took the job over`];
}

function claimedTwice(ends: readonly Ended[], state: JobState): readonly string[] {
  const claims = ends.map((end) => claimedRun(end, state)).filter((run) => run !== undefined);
  return claims.length === new Set(claims).size ? [] : [`both say that they published ${claims[0]}`];
}

function changed(when: string, before: ReadonlyMap<string, string>, { hashes }: JobState): readonly string[] {
  const paths = changedFiles(before, hashes);
  return paths.length === 0 ? [] : [`published files changed ${when}: ${paths}`];
}
