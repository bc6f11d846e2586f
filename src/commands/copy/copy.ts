import type { Environment } from "../../cli/command.js";
import { placesFrom, viewFrom } from "../../cli/options.js";
import { progressOfRun, renderWork, within } from "../../cli/progress.js";
import { jsonLine, pageFor } from "../../cli/text.js";
import type { Rendering } from "../../cli/view.js";
import {
  type CopyProgress,
  type CopyResult,
  emptyCopyProgress,
  exitCodeOf,
  type Move,
} from "../../restore/copy/copy-result.js";
import { bucketNames, withFolderName } from "../../store/copy/bucket-names.js";
import { askToCopy } from "../restore/questions.js";
import {
  endRestore,
  keyFrom,
  type RestoreArguments,
  settingsFrom,
  type Times,
  watchBetweenQuestions,
} from "../restore/shared.js";
import { renderMoved } from "./copied.js";

/** Requests and documents at once: a service embeds each chunk while it takes it, and people use it meanwhile. */
const usualConcurrency = 4;

/** `kbdump restore <run> --to <base_url>`, with arguments that are checked. `load` gives the move itself. */
export async function runCopy(
  args: RestoreArguments & { readonly to: string },
  times: Times,
  environment: Environment,
  load: () => Promise<Move>,
): Promise<number> {
  const { run, keyEnv, from = "chunks", retryFailed } = args;
  const { findRun } = await import("../../store/find-run.js"); // heavy; --help does without
  const folder = await findRun(run, placesFrom(args, environment));
  const key = await keyFrom(keyEnv, environment.env);
  const move = await load();
  const view = viewFrom(args, environment);
  const progress = emptyCopyProgress();
  const watched = watchBetweenQuestions(view, () => renderCopy(progress));
  const names = bucketNames(environment.env);
  const named = (planned: CopyResult): CopyResult => ({ ...planned, run: withFolderName(planned.run, names) });
  const settings = settingsFrom(args, environment);
  const moved = await move({
    ...{ ...settings, ...times, folder, key, from, retryFailed, log: view.log, progress },
    baseUrl: args.to.replace(/\/+$/, ""),
    dataset: args.dataset?.toLowerCase(),
    concurrency: settings.concurrency ?? usualConcurrency,
    confirm: (planned) => watched.pause(() => askToCopy(named(planned), args.yes, environment)),
  }).finally(watched.stop);
  const result = named(moved);
  await endRestore(result, args.apply, view.log, environment, () => textOf(result, args, environment));
  return exitCodeOf(result);
}

function textOf(result: CopyResult, { json }: RestoreArguments, environment: Environment): string {
  if (json) return jsonLine(result);
  const invocation = { program: environment.program(), args: environment.args };
  return renderMoved(result, pageFor(environment.stdout, environment.env), invocation);
}

/** Renders how far a move is. It is measured in chunks, or in documents where no chunk comes, as with --from originals. */
export function renderCopy(progress: CopyProgress): Rendering {
  return renderWork(() => {
    const { step, dump, documents, documentsDone, documentsFailed, chunks, chunksDone, writes } = progress;
    if (dump !== undefined) return within(step, progressOfRun(dump));
    if (step !== "writing") return { step, unit: "chunk", done: 0, of: undefined };
    const counts = [
      ...(documentsFailed > 0 ? [{ noun: "failed document", done: documentsFailed }] : []),
      ...(documents > 0 ? [{ noun: "document", done: documentsDone, of: documents }] : []),
      ...(chunks > 0 ? [{ noun: "chunk", done: chunksDone, of: chunks }] : []),
      ...(writes > 0 ? [{ noun: "request", done: writes }] : []),
    ];
    if (chunks > 0) return { step, unit: "chunk", done: chunksDone, of: chunks, counts };
    return { step, unit: "document", done: documentsDone, of: documents > 0 ? documents : undefined, counts };
  });
}
