import { type Arguments, defineCommand, type Environment, type Options } from "../cli/command.js";
import { findOptionsFrom, runPositional } from "../cli/options.js";
import type { Problem } from "../errors.js";
import {
  type OwnService,
  type RestoreLost,
  type RestoreOptions,
  type RestoreResult,
  restoreResult,
} from "../restore/lost/restore-options.js";
import { emptyWriteProgress } from "../restore/result.js";
import type { FindOptions } from "../store/find-named.js";
import { restoredOutline } from "./restore/plan.js";
import { askToApply } from "./restore/questions.js";
import { keyFrom, problemsOf, settingsFrom, workAndPrint, writeOptions } from "./restore/shared.js";

const epilog = `Examples:
  kbdump restore nightly@20261119
  kbdump restore nightly@20261119 --against nightly
  kbdump restore nightly@20261119 --apply
  kbdump restore nightly@20261119 --plan-out plan.yaml
  kbdump restore nightly@20261119 --plan plan.yaml --apply --yes

Without --apply, nothing is written: kbdump prints what it would write, and what it leaves alone and why. --plan-out writes the plan as a list, a line per row, with restore: yes or no; edit it, and pass it with --plan. The key comes from the environment only, and must be one that may write. kbdump copy brings whole documents to another service.

Exit codes: 0 planned, or restored and proved · 1 failed · 2 wrong usage, no such run, no key, or refused as a whole · 3 some rows could not be restored · 4 the proof found a difference · 5 another restore of this run is active · 130, 143 interrupted, or answered with no; run it again to continue`;

const options = {
  against: {
    type: "string",
    names: "folder",
    value: "RUN",
    describe: "plan against a newer run; without --apply, no request is sent",
  },
  "manual-edits": {
    type: "boolean",
    default: false,
    describe: "add manual edits whose place is not known at the end of their document",
  },
  "plan-out": { type: "string", value: "FILE", describe: "write the plan to a file that you can edit" },
  plan: { type: "string", value: "FILE", describe: "restore the rows that a plan file says yes to, and no others" },
  to: {
    type: "string",
    value: "URL",
    describe: "base URL of the service; default: the one that the run came from",
  },
  ...writeOptions,
} as const satisfies Options;

type RestoreArguments = Arguments<typeof runPositional & typeof options>;

function wishProblems({ plan, planOut, manualEdits, apply }: RestoreArguments): readonly Problem[] {
  const decided = "a plan file decides on every row: say yes to those rows in it, or leave out --plan";
  const first = "write the plan first, without --apply";
  return [
    ...(plan !== undefined && manualEdits ? [{ path: "--manual-edits", message: decided }] : []),
    ...(planOut !== undefined && apply ? [{ path: "--plan-out", message: first }] : []),
  ];
}

/** `kbdump restore <run>`: restores what a re-index destroyed. Only writes with `--apply`. `load` imports the code that restores. */
export function restoreCommand(load: () => Promise<RestoreLost>) {
  return defineCommand({
    name: "restore <run>",
    about: "bring back what a re-index destroyed; without --apply, only plan it",
    positionals: runPositional,
    options,
    epilog,
    results: () => ({ restore: restoreResult }),
    check: async (args, surroundings) => [...(await problemsOf(args, surroundings)), ...wishProblems(args)],
    async run(args, environment) {
      const { to, manualEdits: addManualEdits, plan, planOut, yes } = args;
      const place = await placeFrom(args, environment);
      const wishes = { to, addManualEdits, plan, planOut };
      const settings = { ...settingsFrom(args, environment), ...place, ...wishes, progress: emptyWriteProgress() };
      const ask = (planned: RestoreResult) => askToApply(planned, yes, environment);
      return workAndPrint({ settings, execute: await load(), ask, outline: restoredOutline }, environment);
    },
  });
}

export const command = restoreCommand(async () => (await import("../restore/lost/restore-lost.js")).restoreLost); // slow to load; --help does not need it

/** Finds the folders of the runs, the key, and the service in the user's settings. */
async function placeFrom(
  args: RestoreArguments,
  environment: Environment,
): Promise<Pick<RestoreOptions, "folder" | "against" | "key" | "own">> {
  const { findRun } = await import("../store/find-run.js");
  const { run, against, apply, keyEnv, to } = args;
  const places = findOptionsFrom(args, environment);
  const folder = await findRun(run, { ...places, withDatabase: true });
  const newer = against === undefined ? undefined : await findRun(against, places);
  if (newer !== undefined && !apply) return { folder, against: newer, key: undefined, own: undefined };
  const own = to === undefined ? await ownService(run, places) : undefined;
  return { folder, against: newer, key: await keyFrom(keyEnv, environment.env), own };
}

/**
 * The address of the service in the user's settings: in the job file that names the run, otherwise in KNOWLEDGE_BASE_URL. Undefined
 * if there is none, or if it is the embedded service.
 */
async function ownService(run: string, options: FindOptions): Promise<OwnService | undefined> {
  const { findNamed } = await import("../store/find-named.js");
  const found = await findNamed(run, options);
  if (found.kind === "job" && found.file !== undefined) {
    const { loadJob } = await import("../job/load-job.js");
    const { service } = await loadJob({ file: found.file }, {}, options.env, { notifies: false });
    return service.demo ? undefined : { url: service.baseUrl, place: found.file };
  }
  const { KNOWLEDGE_BASE_URL: url } = options.env;
  return url === undefined ? undefined : { url, place: "KNOWLEDGE_BASE_URL" };
}
