import { readFile } from "node:fs/promises";
import { integer, type Random } from "../servers/random.js";
import { type CallKind, callKinds } from "./fault-library.js";

/** A file call that the library counted. */
export interface FileCall {
  /** The position among calls of its kind, from 1, so that parallel calls of other kinds do not shift it. */
  readonly number: number;
  readonly kind: CallKind;
  readonly path: string;
  /** The new name, for a rename or a link. */
  readonly second: string;
}

/** Reads the calls from a log, in order; empty if the log is missing. */
export async function readCalls(log: string): Promise<readonly FileCall[]> {
  const text = await readFile(log, "utf8").catch(() => "");
  const met = new Map<CallKind, number>();
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [, name = "", path = "", second = ""] = line.split("\t");
      const kind = kindFrom(name);
      const number = (met.get(kind) ?? 0) + 1;
      met.set(kind, number);
      return { number, kind, path, second };
    });
}

function kindFrom(name: string): CallKind {
  const kind = callKinds.find((each) => each === name);
  if (kind === undefined) throw new RangeError(`the library logged a call of no kind: ${name}`);
  return kind;
}

/** Describes a call; paths start below the output folder. */
export function callText({ number, kind, path, second }: FileCall): string {
  const short = (name: string) => name.replace(/^.*\/out\//, "");
  return `${kind} ${number}, ${short(path)}${second ? ` → ${short(second)}` : ""}`;
}

/** Groups calls by step: calls whose paths differ only in ids and numbers belong to the same step. */
export function stepsOf(calls: readonly FileCall[]): readonly (readonly FileCall[])[] {
  const steps = new Map<string, FileCall[]>();
  for (const call of calls) {
    const name = `${call.kind} ${nameless(call.path)} ${nameless(call.second)}`;
    const step = steps.get(name);
    if (step) step.push(call);
    else steps.set(name, [call]);
  }
  return [...steps.values()];
}

function nameless(path: string): string {
  return path.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{8}T\d{9}Z|\d+/g, "*");
}

/** Picks one call from each of `count` steps of a kind, spread evenly over the run, or from all steps if there are fewer. */
export function sampleOfKind(
  calls: readonly FileCall[],
  kind: CallKind,
  count: number,
  random: Random,
): readonly FileCall[] {
  const steps = stepsOf(calls.filter((call) => call.kind === kind));
  const stride = Math.max(1, steps.length / count);
  const offset = random() * stride;
  const chosen = Array.from(
    { length: Math.min(count, steps.length) },
    (_, at) => steps[Math.floor(offset + at * stride)],
  );
  return chosen.flatMap((step) => (step ? [pickCall(step, random)] : []));
}

/** Draws a step, then one of its calls, so that the few renames are as likely as the many database writes. */
export function drawCall(calls: readonly FileCall[], random: Random): FileCall {
  const steps = stepsOf(calls);
  return pickCall(steps[integer(random, 0, steps.length - 1)] ?? [], random);
}

function pickCall(step: readonly FileCall[], random: Random): FileCall {
  const call = step[integer(random, 0, step.length - 1)];
  if (!call) throw new RangeError("there is no call to choose from");
  return call;
}
