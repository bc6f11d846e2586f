import { defineCommand, type Options } from "../cli/command.js";
import { findOptionsFrom } from "../cli/options.js";
import { progressOfRun, renderWork, within } from "../cli/progress-text.js";
import type { Rendering } from "../cli/progress-view.js";
import type { Problem } from "../errors.js";
import {
  type CopyOptions,
  type CopyProgress,
  type CopyResult,
  type CopyRun,
  copyResult,
  emptyCopyProgress,
} from "../restore/copy/copy-result.js";
import { renderCopied } from "./copy/copied.js";
import { askToCopy } from "./restore/questions.js";
import { keyFrom, positionals, problemsOf, settingsFrom, workAndPrint, writeOptions } from "./restore/shared.js";

const epilog = `Examples:
  kbdump copy nightly --to https://new.example.com/v1
  kbdump copy nightly --to https://new.example.com/v1 --dataset UUID --apply

It needs a dump with details: true. Nothing that is there is overwritten. Without --apply, nothing is written: kbdump prints what it would write, and what it leaves out and why. The key comes from the environment only, and must be one that may write.

Exit codes: 0 planned, or copied and proved · 1 failed · 2 wrong usage, no such run, no key, or refused as a whole · 3 some documents could not be copied · 4 the proof found a difference · 5 another copy of this run is active · 130, 143 interrupted, or answered with no; run it again to continue`;

const options = {
  to: { type: "string", value: "URL", demandOption: true, describe: "base URL of the service to copy to" },
  dataset: {
    values: ["new"],
    value: "UUID",
    read: readDataset,
    describe: "an empty dataset to copy into, or new for another copy; default: a new one, or that of an earlier copy",
  },
  ...writeOptions,
  concurrency: {
    value: "N",
    group: "Advanced",
    describe: "maximum concurrent requests and documents, 1 to 64; default: 4",
  },
} as const satisfies Options;

/** `kbdump copy <run> --to URL`: copies whole documents to a service. Only writes with `--apply`. `load` imports the code that copies. */
export function copyCommand(load: () => Promise<CopyRun>) {
  return defineCommand({
    name: "copy <run>",
    about: "bring whole documents to another service; without --apply, only plan it",
    positionals,
    options,
    epilog,
    results: () => ({ copy: copyResult }),
    check: problemsOf,
    async run(args, environment) {
      const { findRun } = await import("../store/find-run.js"); // slow to load; --help does not need it
      const folder = await findRun(args.run, findOptionsFrom(args, environment));
      const key = await keyFrom(args.keyEnv, environment.env);
      const copy = await load();
      const progress = emptyCopyProgress();
      const { concurrency = usualConcurrency, ...more } = settingsFrom(args, environment);
      const baseUrl = args.to.replace(/\/+$/, "");
      const settings = { ...more, concurrency, folder, key, progress, baseUrl, dataset: args.dataset };
      const work = {
        ...{ progress, renderProgress: renderCopy },
        ask: (planned: CopyResult) => askToCopy(planned, args.yes, environment),
        execute: (confirm: CopyOptions["confirm"]) => copy({ ...settings, confirm }),
      };
      return workAndPrint(work, renderCopied, args, environment);
    },
  });
}

/** Concurrent requests and documents. Low, because the service embeds every chunk that it receives while people use it. */
const usualConcurrency = 4;

export const command = copyCommand(async () => (await import("../restore/copy/copy-run.js")).copyRun); // slow to load; --help does not need it

/** A dataset must be an id or `new`. */
async function readDataset(given: string, path: string): Promise<string | Problem> {
  const { checkIds } = await import("../job/check-job.js"); // slow to load; --help does not need it
  const [problem] = given === "new" ? [] : checkIds(path, [given]);
  return problem ? { path, message: `${problem.message}; or new` } : given.toLowerCase();
}

/** Renders the progress of a copy in chunks and child chunks, or in documents if there are no chunks to write. */
export function renderCopy(progress: CopyProgress): Rendering {
  return renderWork(() => {
    const { step, dump, documents, documentsDone, documentsFailed, chunks, chunksDone, writes } = progress;
    const { children, childrenDone } = progress;
    if (dump !== undefined) return within(step, progressOfRun(dump));
    if (step !== "writing") return { step, unit: "chunk", done: 0, of: undefined };
    const counts = [
      ...(documentsFailed > 0 ? [{ noun: "failed document", done: documentsFailed }] : []),
      ...(documents > 0 ? [{ noun: "document", done: documentsDone, of: documents }] : []),
      ...(chunks > 0 ? [{ noun: "chunk", done: chunksDone, of: chunks }] : []),
      ...(children > 0 ? [{ noun: "child chunk", done: childrenDone, of: children }] : []),
      ...(writes > 0 ? [{ noun: "request", done: writes }] : []),
    ];
    const [done, of] = [chunksDone + childrenDone, chunks + children];
    if (of > 0) return { step, unit: children > 0 ? "row" : "chunk", done, of, counts };
    return { step, unit: "document", done: documentsDone, of: documents > 0 ? documents : undefined, counts };
  });
}
