import type { Draft, Label } from "./draft.js";
import { type JobFlags, mergeFlags, overridingFlags } from "./merge-flags.js";

/** Where a job of flags is wrong, the flag that is to be given there. */
const sourceLabels: readonly Label[] = [
  { path: ["service", "base_url"], text: "--base-url" },
  { path: ["datasets", 0, "id"], text: "--dataset" },
  { path: ["datasets", 0, "documents"], text: "--document" },
  { path: ["datasets", 0, "batches"], text: "--batch" },
];

/** A job made of flags alone, not checked: one dataset of one service. */
export function draftFromFlags(flags: JobFlags): Draft {
  const given = overridingFlags(flags);
  const all = flags.document?.length === 1 && flags.document[0] === "all";
  const source = {
    service: { base_url: flags.baseUrl },
    datasets: [{ id: flags.dataset, documents: all ? "all" : flags.document, batches: flags.batch }],
  };
  const document = mergeFlags(source, given);
  return {
    what: "the flags of a run without a job file",
    document,
    written: document,
    labels: [...sourceLabels, ...given.map(({ flag, path }) => ({ text: flag, path }))],
    unset: [],
    problems: [],
  };
}
