import type { World } from "../../cli/command.js";
import { placesFrom, viewFrom } from "../../cli/options.js";
import { progressOfRun, renderWork, within } from "../../cli/progress.js";
import { jsonLine, pageFor } from "../../cli/text.js";
import type { Rendering } from "../../cli/view.js";
import {
  emptyMoveTally,
  exitCodeOf,
  type Move,
  type MoveResult,
  type MoveTally,
} from "../../restore/copy/copy-result.js";
import { bucketNames, withFolderName } from "../../store/copy/bucket-names.js";
import { askToMove } from "../restore/questions.js";
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
export async function runMove(
  args: RestoreArguments & { readonly to: string },
  times: Times,
  world: World,
  load: () => Promise<Move>,
): Promise<number> {
  const { run, keyEnv, from = "chunks", retryFailed } = args;
  const { findRun } = await import("../../store/find-run.js"); // heavy; --help does without
  const folder = await findRun(run, placesFrom(args, world));
  const key = await keyFrom(keyEnv, world.env);
  const move = await load();
  const view = viewFrom(args, world);
  const tally = emptyMoveTally();
  const watched = watchBetweenQuestions(view, () => renderMove(tally));
  const names = bucketNames(world.env);
  const named = (planned: MoveResult): MoveResult => ({ ...planned, run: withFolderName(planned.run, names) });
  const settings = settingsFrom(args, world);
  const moved = await move({
    ...{ ...settings, ...times, folder, key, from, retryFailed, log: view.log, tally },
    baseUrl: args.to.replace(/\/+$/, ""),
    dataset: args.dataset?.toLowerCase(),
    concurrency: settings.concurrency ?? usualConcurrency,
    confirm: (planned) => watched.pause(() => askToMove(named(planned), args.yes, world)),
  }).finally(watched.stop);
  const result = named(moved);
  await endRestore(result, args.apply, view.log, world, () => textOf(result, args, world));
  return exitCodeOf(result);
}

function textOf(result: MoveResult, { json }: RestoreArguments, world: World): string {
  if (json) return jsonLine(result);
  const invocation = { program: world.program(), args: world.args };
  return renderMoved(result, pageFor(world.stdout, world.env), invocation);
}

/** Renders how far a move is. It is measured in chunks, or in documents where no chunk comes, as with --from originals. */
export function renderMove(tally: MoveTally): Rendering {
  return renderWork(() => {
    const { step, dump, documents, documentsDone, documentsFailed, chunks, chunksDone, writes } = tally;
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
