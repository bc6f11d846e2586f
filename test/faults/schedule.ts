import { integer, type Random } from "../servers/random.js";
import { canInject } from "./fault-library.js";
import { callText, drawCall, type FileCall } from "./file-calls.js";
import { canRenameHost } from "./lost-lock.js";

/** When program A is frozen: before or after one of its calls, or at a point in time. */
export type Freeze =
  | { readonly at: "call"; readonly call: FileCall; readonly action: "stop" | "stop-after" }
  | { readonly at: "moment"; readonly moment: number };

/** The course of programs A and B in one round. */
export interface Schedule {
  readonly freeze: Freeze;
  /** How A loses the lock: a user removes it, or B, on another host, takes over because A seems dead. */
  readonly loss: "removed" | "taken over";
  /** When A is woken: milliseconds after the start of B, or undefined: after the end of B. */
  readonly wake: number | undefined;
}

/**
 * Draws a round. Rounds with an even number freeze A at a call, the others at a point in time; every other pair of rounds takes the
 * lock over.
 */
export function drawSchedule(round: number, calls: readonly FileCall[], takes: number, random: Random): Schedule {
  return {
    freeze: canInject && round % 2 === 0 ? atCall(calls, random) : { at: "moment", moment: momentOf(takes, random) },
    loss: canRenameHost && Math.floor(round / 2) % 2 === 0 ? "taken over" : "removed",
    wake: random() < 0.5 ? undefined : momentOf(takes, random),
  };
}

/** A random time in a run of `takes` milliseconds: at the earliest when Node has started, at the latest a fifth after the end. */
export function momentOf(takes: number, random: Random): number {
  return integer(random, Math.round(takes * 0.1), Math.round(takes * 1.2));
}

export function scheduleText({ freeze, loss, wake }: Schedule): string {
  const where = freeze.at === "call" ? `${callText(freeze.call)} (${freeze.action})` : `${freeze.moment} ms`;
  return `A frozen at ${where}, lock ${loss}, A woken ${wake === undefined ? "after B's end" : `${wake} ms into B`}`;
}

function atCall(calls: readonly FileCall[], random: Random): Freeze {
  return { at: "call", call: drawCall(calls, random), action: random() < 0.5 ? "stop" : "stop-after" };
}
