import pLimit from "p-limit";
import { expect, test } from "vitest";
import { randomFrom } from "../servers/random.js";
import { type Environment, openEnvironment, type Place, runUndisturbed, type Undisturbed } from "./environment.js";
import { failureText } from "./failure-text.js";
import { canInject, faultEnv } from "./fault-library.js";
import { callText, type FileCall, readCalls, sampleOfKind } from "./file-calls.js";
import { readState } from "./job-state.js";
import { brokenPromises, contradictions, otherBytes, unfinished } from "./judge-state.js";
import { endText, falseWords, unclaimedRuns } from "./judge-words.js";
import { type Ended, runProgram } from "./program.js";

/** Whether to try every call instead of a sample: `npm run test:faults`. */
const all = process.env.KBDUMP_FAULT_ALL === "1";
const seed = Number(process.env.KBDUMP_FAULT_SEED ?? 1);

/** How many steps of each kind a sample tries: most of them renames, because these publish. */
const sampled = { rename: 4, link: 1, symlink: 1, write: 1, fsync: 1 } as const;
const kinds = Object.keys(sampled) as (keyof typeof sampled)[];

/** A file call that fails. */
interface Fault {
  readonly error: "eio" | "enospc";
  readonly mode: "once" | "from";
  readonly call: FileCall;
}

test.runIf(canInject)(
  `a disk that fails at ${all ? "every call" : "some calls"}: never a false word, and the next run mends it`,
  async () => {
    const environment = await openEnvironment();
    const undisturbed = await runUndisturbed(environment, kinds);
    const { calls } = undisturbed;
    expect(kinds.filter((kind) => !calls.some((call) => call.kind === kind))).toEqual([]);
    const lanes = pLimit(1);
    const tried = faultsAt(calls).map((fault) => lanes(() => tryFault(environment, undisturbed, fault)));
    expect((await Promise.all(tried)).flat()).toEqual([]);
  },
  all ? 7_200_000 : 600_000,
);

function faultsAt(calls: readonly FileCall[]): readonly Fault[] {
  const random = randomFrom(seed);
  const chosen = all ? calls : kinds.flatMap((kind) => sampleOfKind(calls, kind, sampled[kind], random));
  return chosen.flatMap((call, at): readonly Fault[] => {
    const mode = Math.floor(at / 2) % 2 === 0 ? "once" : "from";
    if (!all) return [{ error: at % 2 === 0 ? "eio" : "enospc", mode, call }];
    return [
      { error: "eio", mode, call },
      { error: "enospc", mode: mode === "once" ? "from" : "once", call },
    ];
  });
}

/** Runs the job with a fault and again without; returns the problems. */
async function tryFault(environment: Environment, undisturbed: Undisturbed, fault: Fault): Promise<readonly string[]> {
  const place = await environment.newPlace();
  const disturbed = await runWith(environment, place, fault);
  const state = await readState(place.job);
  const problems = [
    ...falseWords(disturbed, state),
    ...unclaimedRuns([disturbed], state, environment.before.runs),
    ...brokenPromises(state, environment.earlierRun),
  ];
  if (disturbed.code === 1) problems.push(...namesNoDisk(disturbed));
  if (disturbed.code === 1 && JSON.stringify(state.latest) !== JSON.stringify(environment.before.latest))
    problems.push("exit 1, but latest was moved");
  const next = await runProgram("the next run", environment.args(place), environment.env);
  const after = await readState(place.job);
  const later = [
    ...(next.code === 0 ? [] : [endText(next)]),
    ...falseWords(next, after),
    ...unclaimedRuns([next], after, state.runs),
    ...brokenPromises(after, environment.earlierRun),
    ...unfinished(after),
    ...otherBytes(after, environment.earlierRun, undisturbed),
    ...(await contradictions(after)),
  ];
  problems.push(...later.map((problem) => `after the next run: ${problem}`));
  const met = (await readCalls(place.log)).find(({ number }) => number === fault.call.number);
  const label = `${fault.error} ${fault.mode} at ${callText(met ?? fault.call)}`;
  return failureText(label, problems.length === 0 ? [] : [...problems, endText(disturbed)]);
}

function runWith(environment: Environment, place: Place, { error, mode, call }: Fault): Promise<Ended> {
  const env = faultEnv({ folder: place.out, kinds: [call.kind], log: place.log, action: error, mode, at: call.number });
  return runProgram("the run", environment.args(place), { ...environment.env, ...env });
}

function namesNoDisk({ stderr }: Ended): readonly string[] {
  const disk = /\bdisk\b.*(is full|error)|input\/output error/i.test(stderr);
  if (disk && stderr.includes("/")) return [];
  return ["exit 1 names no disk error with its path"];
}
