import { setTimeout as sleep } from "node:timers/promises";
import type { Environment, Place, Undisturbed } from "./environment.js";
import { callKinds, faultEnv } from "./fault-library.js";
import { judgeRivals } from "./judge-rivals.js";
import { ageLock, removeLock } from "./lost-lock.js";
import { endOf, isFrozen, type Program, startProgram } from "./program.js";
import { hashesOf } from "./published-files.js";
import type { Freeze, Schedule } from "./schedule.js";

/** The kinds of calls at which a program is frozen. */
export const freezingKinds = callKinds.filter((kind) => kind !== "truncate" && kind !== "copy");

/** Freezes A, lets B take its lease, wakes A; returns the broken promises. */
export async function playFreeze(
  environment: Environment,
  place: Place,
  undisturbed: Undisturbed,
  { freeze, loss, wake }: Schedule,
): Promise<readonly string[]> {
  const a = await startFrozen(environment, place, freeze);
  await (loss === "removed" ? removeLock(place) : ageLock(place));
  const b = startProgram(
    "B",
    environment.args(place),
    environment.env,
    loss === "removed" ? undefined : "kbdump-other",
  );
  if (wake !== undefined) {
    await Promise.race([sleep(wake), b.ended]);
    a.child.kill("SIGCONT");
  }
  const endOfB = await endOf(b);
  const afterB = await hashesOf(`${place.job}/runs`);
  a.child.kill("SIGCONT");
  const ends = [await endOf(a), endOfB];
  return judgeRivals({ environment, place, undisturbed, ends, published: afterB, bMustSucceed: wake === undefined });
}

/** Removes the lock of A during its run and starts B at once; returns the broken promises. */
export async function playRemoval(
  environment: Environment,
  place: Place,
  undisturbed: Undisturbed,
  moment: number,
): Promise<readonly string[]> {
  const a = startProgram("A", environment.args(place), environment.env);
  await Promise.race([sleep(moment), a.ended]);
  await removeLock(place);
  const b = startProgram("B", environment.args(place), environment.env);
  const first = await Promise.race([endOf(a), endOf(b)]);
  const published = first.code === 0 ? await hashesOf(`${place.job}/runs`) : environment.before.hashes;
  const ends = [await endOf(a), await endOf(b)];
  return judgeRivals({ environment, place, undisturbed, ends, published, bMustSucceed: false });
}

/** Starts A and waits until it is frozen, or has ended before. */
async function startFrozen(environment: Environment, place: Place, freeze: Freeze): Promise<Program> {
  const args = environment.args(place);
  if (freeze.at === "moment") {
    const a = startProgram("A", args, environment.env);
    await Promise.race([sleep(freeze.moment), a.ended]);
    a.child.kill("SIGSTOP");
    await isFrozen(a);
    return a;
  }
  const { call, action } = freeze;
  const faults = faultEnv({ folder: place.out, kinds: [call.kind], log: place.log, action, at: call.number });
  const a = startProgram("A", args, { ...environment.env, ...faults });
  await isFrozen(a);
  return a;
}
