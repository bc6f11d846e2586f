import { defineCommand } from "../cli/command.js";
import { copyResult, type Move } from "../restore/copy/copy-result.js";
import { type RestoreLost, restoreResult } from "../restore/restore-options.js";
import { runCopy } from "./copy/copy.js";
import { runLost } from "./restore/lost.js";
import { checkArguments, options, positionals } from "./restore/shared.js";

const epilog = `With --lost, it brings back what a re-index took from the documents of the run. With --to alone, it brings whole documents, word for word, into a dataset of another service.

Examples:
  kbdump restore nightly@20261119 --lost
  kbdump restore nightly@20261119 --lost --against nightly
  kbdump restore nightly@20261119 --lost --apply
  kbdump restore nightly@20261119 --lost --chunk UUID,UUID --apply --yes
  kbdump restore nightly --to https://new.example.com/v1
  kbdump restore nightly --to https://new.example.com/v1 --dataset UUID --apply
  kbdump restore nightly --to https://new.example.com/v1 --apply --retry-failed

Without --apply, nothing is written: kbdump prints what it would write, and what it leaves alone and why. The key comes from the environment only, and must be one that may write.

Exit codes: 0 planned, or restored and proved · 1 failed · 2 wrong usage, no such run, no key, or refused as a whole · 3 some rows or documents could not be restored · 4 the proof found a difference · 5 another restore of this run is at work · 130, 143 interrupted, or answered with no; run it again to go on`;

/** The work of the two kinds of restore, loaded when it is needed. */
export interface Restores {
  readonly lost: () => Promise<RestoreLost>;
  readonly move: () => Promise<Move>;
}

/** `kbdump restore <run>`: with `--lost` what a re-index took, with only `--to` whole documents. It writes with `--apply` only. */
export function restoreCommand({ lost, move }: Restores) {
  return defineCommand({
    name: "restore <run>",
    about: "bring back what a re-index took, or whole documents to another service; without --apply, only plan it",
    positionals,
    options,
    epilog,
    results: () => ({ restore: restoreResult, "restore-to": copyResult }),
    async run(args, environment) {
      const times = await checkArguments(args, environment);
      const { to } = args;
      return args.lost || to === undefined
        ? runLost(args, times, environment, lost)
        : runCopy({ ...args, to }, times, environment, move);
    },
  });
}

export const command = restoreCommand({
  // heavy; --help does without
  lost: async () => (await import("../restore/restore-lost.js")).restoreLost,
  move: async () => (await import("../restore/copy/copy-run.js")).moveRun,
});
