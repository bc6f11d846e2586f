import type { Environment } from "../../cli/command.js";
import { itemsOf, placesFrom, viewFrom } from "../../cli/options.js";
import { progressOfRun, renderWork, within } from "../../cli/progress.js";
import { jsonLine, pageFor } from "../../cli/text.js";
import type { Rendering } from "../../cli/view.js";
import {
  emptyRestoreProgress,
  exitCodeOf,
  type OwnService,
  type RestoreLost,
  type RestoreOptions,
  type RestoreProgress,
  type RestoreResult,
} from "../../restore/restore-options.js";
import { bucketNames, withFolderName } from "../../store/copy/bucket-names.js";
import type { FindOptions } from "../../store/find-named.js";
import { askToApply } from "./questions.js";
import { renderRestored } from "./restored.js";
import {
  endRestore,
  keyFrom,
  type RestoreArguments,
  settingsFrom,
  type Times,
  watchBetweenQuestions,
} from "./shared.js";

/** `kbdump restore <run> --lost`, with arguments that are checked. `load` gives the restore itself. */
export async function runLost(
  args: RestoreArguments,
  times: Times,
  environment: Environment,
  load: () => Promise<RestoreLost>,
): Promise<number> {
  const place = await placeFrom(args, environment);
  const restoreLost = await load();
  const view = viewFrom(args, environment);
  const progress = emptyRestoreProgress();
  const watched = watchBetweenQuestions(view, () => renderRestore(progress));
  const names = bucketNames(environment.env);
  const named = (planned: RestoreResult): RestoreResult => ({
    ...planned,
    run: withFolderName(planned.run, names),
    against: planned.against && names(planned.against),
  });
  const confirm = (planned: RestoreResult) => watched.pause(() => askToApply(named(planned), args.yes, environment));
  const { to, addDisabled } = args;
  const setting = { ...settingsFrom(args, environment), to, addDisabled, chunks: itemsOf(args.chunk) };
  const restored = await restoreLost({ ...setting, ...times, ...place, log: view.log, progress, confirm }).finally(
    watched.stop,
  );
  const result = named(restored);
  await endRestore(result, args.apply, view.log, environment, () => textOf(result, args, environment));
  return exitCodeOf(result);
}

/** The folders of the runs, the key, and the service that the owner's settings name. */
async function placeFrom(
  args: RestoreArguments,
  environment: Environment,
): Promise<Pick<RestoreOptions, "folder" | "against" | "key" | "own">> {
  const { findRun } = await import("../../store/find-run.js");
  const { run, against, apply, keyEnv, to } = args;
  const { env } = environment;
  const places = placesFrom(args, environment);
  const folder = await findRun(run, { ...places, withDatabase: true });
  const newer = against === undefined ? undefined : await findRun(against, places);
  if (newer !== undefined && !apply) return { folder, against: newer, key: undefined, own: undefined };
  const own = to === undefined ? await ownService(run, places) : undefined;
  return { folder, against: newer, key: await keyFrom(keyEnv, env), own };
}

/** The service of the job file, where the run is named by one; else that of the variable. */
async function ownService(run: string, options: FindOptions): Promise<OwnService | undefined> {
  const { findNamed } = await import("../../store/find-named.js");
  const found = await findNamed(run, options);
  if (found.kind === "job" && found.file !== undefined) {
    const { loadJob } = await import("../../job/load-job.js");
    const { service } = await loadJob({ file: found.file }, {}, options.env, { notifies: false });
    return service.demo ? undefined : { url: service.baseUrl, place: found.file };
  }
  const { KNOWLEDGE_BASE_URL: url } = options.env;
  return url === undefined ? undefined : { url, place: "KNOWLEDGE_BASE_URL" };
}

function textOf(result: RestoreResult, { json }: RestoreArguments, environment: Environment): string {
  if (json) return jsonLine(result);
  const invocation = { program: environment.program(), args: environment.args };
  return renderRestored(result, pageFor(environment.stdout, environment.env), invocation);
}

/** Renders how far a restore is. */
export function renderRestore(progress: RestoreProgress): Rendering {
  return renderWork(() => {
    const { step, chunks, chunksDone, waiting, dump } = progress;
    if (dump !== undefined) return within(step, progressOfRun(dump));
    const isMeasured = step === "writing" && chunks > 0;
    return {
      step,
      unit: "chunk",
      done: chunksDone,
      of: isMeasured ? chunks : undefined,
      counts: isMeasured ? [{ noun: "chunk", done: chunksDone, of: chunks }] : [],
      note: waiting > 0 ? `${waiting} wait until the service has indexed them` : undefined,
    };
  });
}
