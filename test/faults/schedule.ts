import { integer, type Random } from "../servers/random.js";
import { canInject } from "./fault-library.js";
import { callText, drawCall, type FileCall } from "./file-calls.js";
import { canRenameHost } from "./lost-lock.js";

/** When A is stopped: at a call of its own, before or after it is done, or at a moment of its run. */
export type Freeze =
  | { readonly at: "call"; readonly call: FileCall; readonly action: "stop" | "stop-after" }
  | { readonly at: "moment"; readonly moment: number };

/** The events of A and B in one round; times in milliseconds. */
export interface Schedule {
  readonly freeze: Freeze;
  /** How A loses the lock: somebody removes it, or B is of another host and takes it over as dead. */
  readonly loss: "removed" | "taken over";
  /** After the start of B; undefined: after its end. */
  readonly wake: number | undefined;
}

/** Draws a round. Every other one freezes at a call, every other pair takes the lock over. */
export function drawSchedule(round: number, calls: readonly FileCall[], takes: number, random: Random): Schedule {
  return {
    freeze: canInject && round % 2 === 0 ? atCall(calls, random) : { at: "moment", moment: momentOf(takes, random) },
    loss: canRenameHost && Math.floor(round / 2) % 2 === 0 ? "taken over" : "removed",
    wake: random() < 0.5 ? undefined : momentOf(takes, random),
  };
}

/** A moment of a run that takes so long when it is alone; node itself starts in the first tenth. */
export function momentOf(takes: number, random: Random): number {
  return integer(random, Math.round(takes * 0.1), Math.round(takes * 1.2));
}

/** A schedule in words. */
export function scheduleText({ freeze, loss, wake }: Schedule): string {
  const where = freeze.at === "call" ? `${callText(freeze.call)} (${freeze.action})` : `${freeze.moment} ms`;
  return `A frozen at ${where}, lock ${loss}, A woken ${wake === undefined ? "after B's end" : `${wake} ms into B`}`;
}

function atCall(calls: readonly FileCall[], random: Random): Freeze {
  return { at: "call", call: drawCall(calls, random), action: random() < 0.5 ? "stop" : "stop-after" };
}
