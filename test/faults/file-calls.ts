import { readFile } from "node:fs/promises";
import { integer, type Random } from "../servers/random.js";
import { type CallKind, callKinds } from "./fault-library.js";

/** A call that the library counted. */
export interface FileCall {
  /** Among the calls of its kind, from 1: what else a run does at the same time cannot shift it. */
  readonly number: number;
  readonly kind: CallKind;
  readonly path: string;
  /** The new name, for a rename or link. */
  readonly second: string;
}

/** The calls of a log, in order; none where nothing was counted. */
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

/** A call in words, with paths from the output on. */
export function callText({ number, kind, path, second }: FileCall): string {
  const short = (name: string) => name.replace(/^.*\/out\//, "");
  return `${kind} ${number}, ${short(path)}${second ? ` → ${short(second)}` : ""}`;
}

/** Sorts calls by what they do: two that differ only in ids and numbers of their paths are of one step. */
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

/** One call of `count` steps of a kind, spread evenly over the run; of all steps where there are no more. */
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

/** A call of a step that is drawn first, so that the many writes of a database do not drown the few renames. */
export function drawCall(calls: readonly FileCall[], random: Random): FileCall {
  const steps = stepsOf(calls);
  return pickCall(steps[integer(random, 0, steps.length - 1)] ?? [], random);
}

function pickCall(step: readonly FileCall[], random: Random): FileCall {
  const call = step[integer(random, 0, step.length - 1)];
  if (!call) throw new RangeError("there is no call to choose from");
  return call;
}
