import { countText, durationText, numberText } from "../../amounts.js";
import type { MoveFacts } from "../../cli/log-schema.js";
import { renderBarLine, renderProgress, watchDumps } from "../../cli/progress.js";
import { secondsFrom } from "../../cli/text.js";
import type { Rendering } from "../../cli/view.js";
import type { MoveTally } from "../../restore/copy/copy-result.js";

/** How far the step in hand is. */
interface MoveProgress {
  readonly text: string;
  /** From 0 to 1; undefined where the step has no measure. */
  readonly share: number | undefined;
  /** Milliseconds to go; undefined as long as nothing can be said. */
  readonly left: number | undefined;
}

/** Renders how far a move is. */
export function renderMove(tally: MoveTally): Rendering {
  const progressOf = watchMove(tally);
  return {
    facts: (elapsed) => factsOf(tally, progressOf(elapsed), elapsed),
    lines: (elapsed) => [progressOf(elapsed).text],
    block: (elapsed, screen) => {
      const { share, text } = progressOf(elapsed);
      return [renderBarLine(share, text, screen)];
    },
    drawEvery: 100,
  };
}

/** Gives the progress after so many milliseconds. The pace is that since it first looked at the writing. */
function watchMove(tally: MoveTally): (elapsed: number) => MoveProgress {
  const progressOfDump = watchDumps();
  let begun: { readonly elapsed: number; readonly done: number } | undefined;
  return (elapsed) => {
    const { step, dump } = tally;
    if (dump !== undefined) {
      const progress = progressOfDump(dump, elapsed);
      return { text: `${step} · ${renderProgress(progress)}`, share: progress.share, left: progress.left };
    }
    if (step !== "writing") return { text: step, share: undefined, left: undefined };
    const { done } = workOf(tally);
    begun ??= { elapsed, done };
    const time = elapsed - begun.elapsed;
    return writingProgress(tally, time > 0 ? ((done - begun.done) * 1000) / time : 0);
  };
}

/** The work is counted in chunks; in documents where no chunk comes, as with --from originals. */
function workOf({ chunks, chunksDone, documents, documentsDone }: MoveTally) {
  return chunks > 0 ? { all: chunks, done: chunksDone } : { all: documents, done: documentsDone };
}

/** `writing · 5 min 2 s left · 1 failed · 3/13 documents · 120/5,027 chunks · 312 requests · 14 chunks/s`; `rate` is of the work, a second. */
function writingProgress(tally: MoveTally, rate: number): MoveProgress {
  const { documents, documentsDone, documentsFailed, chunks, chunksDone, step } = tally;
  const { all, done } = workOf(tally);
  const left = rate > 0 && all > done ? ((all - done) * 1000) / rate : undefined;
  const text = [
    step,
    left !== undefined && `${durationText(left)} left`,
    documentsFailed > 0 && `${numberText(documentsFailed)} failed`,
    documents > 0 && `${numberText(documentsDone)}/${countText(documents, "document")}`,
    chunks > 0 && `${numberText(chunksDone)}/${countText(chunks, "chunk")}`,
    tally.writes > 0 && countText(tally.writes, "request"),
    chunks > 0 && rate > 0 && `${rate.toLocaleString("en-US", { maximumSignificantDigits: 2 })} chunks/s`,
  ];
  return {
    text: text.filter(Boolean).join(" · "),
    share: all > 0 ? Math.min(1, done / all) : undefined,
    left,
  };
}

/** The same for programs. */
function factsOf(tally: MoveTally, { share, left }: MoveProgress, elapsed: number): MoveFacts {
  return {
    step: tally.step,
    documents: tally.documents,
    documents_done: tally.documentsDone,
    documents_failed: tally.documentsFailed,
    chunks: tally.chunks,
    chunks_done: tally.chunksDone,
    writes: tally.writes,
    share: share ?? null,
    elapsed_seconds: secondsFrom(elapsed),
    remaining_seconds: secondsFrom(left),
  };
}
