import { setTimeout as sleep } from "node:timers/promises";
import { callKinds, faultEnv } from "./fault-library.js";
import { judgeRivals } from "./judge-rivals.js";
import { ageLock, removeLock } from "./lost-lock.js";
import { endOf, isFrozen, type Program, startProgram } from "./program.js";
import { hashesOf } from "./published-files.js";
import type { Freeze, Schedule } from "./schedule.js";
import type { Place, Undisturbed, World } from "./world.js";

/** Calls at which a program is frozen. */
export const freezingKinds = callKinds.filter((kind) => kind !== "truncate" && kind !== "copy");

/** A is frozen, B takes its place, A wakes; gives the promises that were broken. */
export async function playFreeze(
  world: World,
  place: Place,
  undisturbed: Undisturbed,
  { freeze, loss, wake }: Schedule,
): Promise<readonly string[]> {
  const a = await startFrozen(world, place, freeze);
  await (loss === "removed" ? removeLock(place) : ageLock(place));
  const b = startProgram("B", world.args(place), world.env, loss === "removed" ? undefined : "kbdump-other");
  if (wake !== undefined) {
    await Promise.race([sleep(wake), b.ended]);
    a.child.kill("SIGCONT");
  }
  const endOfB = await endOf(b);
  const afterB = await hashesOf(`${place.job}/runs`);
  a.child.kill("SIGCONT");
  const ends = [await endOf(a), endOfB];
  return judgeRivals({ world, place, undisturbed, ends, settled: afterB, bMustSucceed: wake === undefined });
}

/** The lock of A is removed at a moment of its run, and B starts at once. */
export async function playRemoval(
  world: World,
  place: Place,
  undisturbed: Undisturbed,
  moment: number,
): Promise<readonly string[]> {
  const a = startProgram("A", world.args(place), world.env);
  await Promise.race([sleep(moment), a.ended]);
  await removeLock(place);
  const b = startProgram("B", world.args(place), world.env);
  const first = await Promise.race([endOf(a), endOf(b)]);
  const settled = first.code === 0 ? await hashesOf(`${place.job}/runs`) : world.before.hashes;
  const ends = [await endOf(a), await endOf(b)];
  return judgeRivals({ world, place, undisturbed, ends, settled, bMustSucceed: false });
}

/** Starts A and waits until it stands still, or has ended before it could be frozen. */
async function startFrozen(world: World, place: Place, freeze: Freeze): Promise<Program> {
  const args = world.args(place);
  if (freeze.at === "moment") {
    const a = startProgram("A", args, world.env);
    await Promise.race([sleep(freeze.moment), a.ended]);
    a.child.kill("SIGSTOP");
    await isFrozen(a);
    return a;
  }
  const { call, action } = freeze;
  const faults = faultEnv({ folder: place.out, kinds: [call.kind], log: place.log, action, at: call.number });
  const a = startProgram("A", args, { ...world.env, ...faults });
  await isFrozen(a);
  return a;
}
