import type { Problem } from "../errors.js";
import type { Draft, Label } from "./draft.js";
import {
  batchFlag,
  type GivenFlag,
  itemsOf,
  type JobFlags,
  mergeFlags,
  overridingFlags,
  sourceFlags,
} from "./merge-flags.js";

/** The flags that errors name in place of the keys of a job that was made from flags alone. */
const sourceLabels: readonly Label[] = [
  { path: ["service", "base_url"], text: "--base-url" },
  { path: ["datasets", 0, "id"], text: "--dataset" },
  { path: ["datasets", 0, "documents"], text: "--document" },
  { path: ["datasets", 0, "batches"], text: "--batch" },
  { path: ["name"], text: "--name" },
  { path: ["service", "concurrency"], text: "--concurrency" },
];

/** A job made of flags alone, not checked: one dataset of one service, or all of them. */
export function draftFromFlags(flags: JobFlags): Draft {
  const given = overridingFlags(flags);
  const source = { name: flags.name, service: { base_url: flags.baseUrl }, datasets: datasetsFrom(flags) };
  const document = mergeFlags(source, given);
  return {
    what: "the command line",
    document,
    written: document,
    labels: [...sourceLabels, ...given.map(({ flag, path }) => ({ text: flag, path }))],
    unset: [],
    problems:
      flags.dataset === "all" ? [...sourceFlags(flags), ...batchFlag(flags)].filter(isOfOneDataset).map(refuse) : [],
  };
}

function datasetsFrom({ dataset, document, batch }: JobFlags): unknown {
  if (dataset === "all") return "all";
  return [{ id: dataset, documents: saysAll(document) ? "all" : itemsOf(document), batches: itemsOf(batch) }];
}

function isOfOneDataset({ flag, value }: GivenFlag): boolean {
  return flag === "--batch" || (flag === "--document" && !saysAll(value));
}

function saysAll(value: unknown): boolean {
  return Array.isArray(value) && value.length === 1 && value[0] === "all";
}

function refuse({ flag }: GivenFlag): Problem {
  return { path: flag, message: "not together with --dataset all, which reads every document of every dataset" };
}
