import type { Problem } from "../../errors.js";
import { durationFrom } from "../duration.js";
import { wrongLine } from "../line/wrong-line.js";
import { itemsOf } from "../options.js";
import type { World } from "../world.js";
import type { RestoreArguments } from "./flags.js";

/** The times of a restore, in milliseconds. */
export interface Times {
  readonly timeout: number;
  readonly settle: number;
  readonly lockTime: number;
}

const timeBounds = { least: 1_000, most: 3_600_000, text: "from 1 s to 1 h" };
const settleBounds = { least: 0, most: 3_600_000, text: "from 0 s to 1 h" };

/** Checks everything that can be checked before a run is looked for; UsageError with every problem. */
export async function checkArguments(args: RestoreArguments, world: World): Promise<Times> {
  const { checkIds, checkServiceFlags } = await import("../../job/check-job.js"); // heavy; --help does without
  const timeout = durationFrom("--timeout", args.timeout, timeBounds);
  const settle = durationFrom("--settle", args.settle, settleBounds);
  const lockTime = durationFrom("--lock-time", args.lockTime, settleBounds);
  const problems: readonly Problem[] = [
    ...checkKind(args),
    ...checkIds("--document", itemsOf(args.document)),
    ...checkIds("--chunk", itemsOf(args.chunk)),
    ...checkDataset(args.dataset, checkIds),
    ...checkServiceFlags(args),
    ...[timeout, settle, lockTime].filter((time) => typeof time !== "number"),
    ...(args.apply && !args.yes && world.openTerminal === undefined ? [{ path: "--apply", message: noTerminal }] : []),
  ];
  if (typeof timeout !== "number" || typeof settle !== "number" || typeof lockTime !== "number" || problems.length > 0)
    throw wrongLine(problems);
  return { timeout, settle, lockTime };
}

const noTerminal =
  "there is no terminal to confirm at; look at the plan without --apply first, then add --yes to write it";

/** A restore is of one kind: `--lost`, or `--to` without it. Flags of the other kind are no use. */
function checkKind(args: RestoreArguments): readonly Problem[] {
  const { lost, to, against, chunk, addDisabled, dataset, from, retryFailed } = args;
  if (lost)
    return given({ "--dataset": dataset, "--from": from, "--retry-failed": retryFailed }).map((path) => ({
      path,
      message: "not together with --lost; it belongs to --to alone",
    }));
  if (to === undefined) return [{ path: "--lost or --to", message: noKind }];
  return given({ "--against": against, "--chunk": chunk, "--add-disabled": addDisabled }).map((path) => ({
    path,
    message: "only together with --lost",
  }));
}

const noKind =
  "missing; --lost brings back what a re-index took, --to brings whole documents to the service with this base URL";

/** A dataset is named by its id, or is `new`. */
function checkDataset(
  dataset: string | undefined,
  checkIds: (flag: string, ids: readonly string[]) => readonly Problem[],
): readonly Problem[] {
  if (dataset === undefined || dataset === "new") return [];
  return checkIds("--dataset", [dataset]).map(({ path, message }) => ({ path, message: `${message}; or new` }));
}

function given(flags: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(flags).flatMap(([flag, value]) => (value === undefined || value === false ? [] : [flag]));
}
