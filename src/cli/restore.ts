import { InterruptedError, UsageError } from "../errors.js";
import type { FindOptions } from "../locate/find-named.js";
import type { OwnService, RestoreLost, RestoreOptions } from "../restore/restore-options.js";
import { exitCodeOf, type RestoreResult } from "../restore/restore-result.js";
import { emptyRestoreTally, type RestoreTally } from "../restore/restore-tally.js";
import type { RestoreOutput } from "../results/restore.js";
import { renderRestore } from "../terminal/restore/restore-progress.js";
import { renderRestored } from "../terminal/restore/restored.js";
import { jsonLine, pageFor } from "../terminal/text.js";
import type { View } from "../terminal/view.js";
import { defineCommand } from "./command.js";
import { viewFrom } from "./options.js";
import { printResult } from "./print-result.js";
import { checkArguments, options, positionals, type RestoreArguments, settingFrom } from "./restore-flags.js";
import { askToApply } from "./restore-questions.js";
import type { World } from "./world.js";

const epilog = `Examples:
  kbdump restore nightly@20261119 --lost
  kbdump restore nightly@20261119 --lost --against nightly
  kbdump restore nightly@20261119 --lost --apply
  kbdump restore nightly@20261119 --lost --chunk UUID,UUID --apply --yes

Without --apply, nothing is written: kbdump prints what it would write, and what it leaves alone and why. The key comes from the environment only, and must be one that may write.

Exit codes: 0 planned, or restored and proved · 1 failed · 2 wrong usage, no such run, no key, or refused as a whole · 3 some rows could not be restored · 4 the proof found a difference · 5 another restore of this run is at work · 130, 143 interrupted, or answered with no; run it again to go on`;

/** `kbdump restore <run> --lost`: brings back what a re-index took; writes with `--apply` only. `load` gives the restore itself. */
export function restoreCommand(load: () => Promise<RestoreLost>) {
  return defineCommand({
    name: "restore <run>",
    about: "bring back what a re-index took; without --apply, only plan it",
    positionals,
    options,
    epilog,
    async run(args, world) {
      const times = await checkArguments(args, world);
      const place = await placeFrom(args, world);
      const restoreLost = await load();
      const view = viewFrom(args, world);
      const tally = emptyRestoreTally();
      const watched = watchBetweenQuestions(view, tally);
      const confirm = (planned: RestoreResult) => watched.pause(() => askToApply(planned, args.yes, world));
      const setting = settingFrom(args, world);
      const result = await restoreLost({ ...setting, ...times, ...place, log: view.log, tally, confirm }).finally(
        watched.stop,
      );
      for (const warning of result.warnings) view.log("warn", warning);
      if (args.apply && result.status === "planned" && result.applied === null)
        throw new InterruptedError("SIGINT", "stopped, as you answered no: nothing of this plan was written");
      await show(result, args, world);
      return exitCodeOf(result);
    },
  });
}

/** The folders of the runs, the key, and the service that the owner's settings name. */
async function placeFrom(
  { run, against, dir, apply, keyEnv, to }: RestoreArguments,
  { env }: World,
): Promise<Pick<RestoreOptions, "folder" | "against" | "key" | "own">> {
  const { findRun } = await import("../locate/find-run.js");
  const folder = await findRun(run, { dir, env });
  const newer = against === undefined ? undefined : await findRun(against, { dir, env });
  if (newer !== undefined && !apply) return { folder, against: newer, key: undefined, own: undefined };
  const own = to === undefined ? await ownService(run, { dir, env }) : undefined;
  return { folder, against: newer, key: await keyFrom(keyEnv, env), own };
}

/** The service of the job file, where the run is named by one; else that of the variable. */
async function ownService(run: string, options: FindOptions): Promise<OwnService | undefined> {
  const { findNamed } = await import("../locate/find-named.js");
  const found = await findNamed(run, options);
  if (found.kind === "job" && found.file !== undefined) {
    const { loadJob } = await import("../job/load-job.js");
    const { service } = await loadJob({ file: found.file }, {}, options.env, { notifies: false });
    return service.demo ? undefined : { url: service.baseUrl, place: found.file };
  }
  const { KNOWLEDGE_BASE_URL: url } = options.env;
  return url === undefined ? undefined : { url, place: "KNOWLEDGE_BASE_URL" };
}

async function keyFrom(name: string, env: NodeJS.ProcessEnv): Promise<string> {
  if (env[name] === undefined) {
    const why = "restore has a key of its own, which may write, as the key of a job is for reading only";
    throw new UsageError(`no key: the variable ${name} is not set; ${why}. Set it: export ${name}=…`, []);
  }
  const { readKey } = await import("../job/read-key.js");
  return readKey({ apiKeyEnv: name }, env);
}

/** Shows the progress, but not while a question is on the terminal. */
function watchBetweenQuestions(view: View, tally: RestoreTally) {
  const watch = () => view.watch(renderRestore(tally));
  let unwatch = watch();
  return {
    stop: () => unwatch(),
    pause: async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
      unwatch();
      return ask().finally(() => {
        unwatch = watch();
      });
    },
  };
}

async function show(result: RestoreResult, args: RestoreArguments, world: World): Promise<void> {
  const invocation = { program: world.program(), args: world.args };
  const text = args.json
    ? jsonLine(result satisfies RestoreOutput)
    : renderRestored(result, pageFor(world.stdout, world.env), invocation);
  await printResult(world, text, result.applied === null ? undefined : "the restore is done");
}
