import { countText, durationText, numberText } from "../amounts.js";
import { type RunTally, readingDocuments } from "../job/run-tally.js";

import type { ReadTally } from "../read-tally.js";
import { type ShardPlace, shardText } from "../words.js";
import { cutToWidth } from "./display-width.js";
import type { ReadFacts, RunFacts } from "./log-schema.js";
import { secondsFrom } from "./text.js";
import type { Rendering, Screen } from "./view.js";

/** The state of a run, derived from its tally. */
interface RunProgress {
  readonly step: string;
  readonly documents: number;
  readonly documentsDone: number;
  readonly chunks: number;
  readonly childChunks: number;
  readonly requests: number;
  /** Requests a second since the start. */
  readonly rate: number;
  /** From 0 to 1; undefined before the first document has told its size. */
  readonly share: number | undefined;
  /** Milliseconds to go; undefined as long as nothing can be said, and while answers hang. */
  readonly left: number | undefined;
  readonly inFlight: number;
  /** Milliseconds without an answer; undefined where it is not worth a word. */
  readonly waiting: number | undefined;
}

/**
 * Progress after `elapsed` milliseconds. The share is that of pages and child lists; documents that have not told their
 * size yet are taken for average ones, and those that an earlier process read count for nothing.
 */
export function progressOf(tally: RunTally, elapsed: number, now = performance.now()): RunProgress {
  const { documents, documentsDone, documentsBegun, documentsFailed, pagesExpected, pagesDone } = tally;
  const ahead = Math.max(0, documents - documentsBegun - documentsFailed - tally.documentsFound);
  const expected = pagesExpected + (documentsBegun > 0 ? (ahead * pagesExpected) / documentsBegun : 0);
  const isRead = documents > 0 && documentsDone >= documents;
  const share = documentsBegun > 0 && expected > 0 ? Math.min(1, pagesDone / expected) : isRead ? 1 : undefined;
  const waiting = waitingTime(tally.requests, now);
  return {
    step: tally.step,
    documents,
    documentsDone,
    chunks: tally.chunks,
    childChunks: tally.child_chunks,
    requests: tally.requests.sent + tally.requestsElsewhere,
    rate: elapsed > 0 ? ((tally.requests.answered + tally.requestsElsewhere) * 1000) / elapsed : 0,
    share,
    left: share === undefined || share < 0.01 || waiting !== undefined ? undefined : elapsed / share - elapsed,
    inFlight: tally.requests.inFlight,
    waiting,
  };
}

/** One line of text; what matters most stands first, because a narrow terminal cuts the end. */
export function renderProgress(progress: RunProgress): string {
  const { step, documents, documentsDone, rate, left } = progress;
  return [
    step !== readingDocuments && step,
    progress.waiting !== undefined && waitingText(progress.waiting, progress.inFlight),
    left !== undefined && left > 0 && `${durationText(left)} left`,
    documents > 0 && `${numberText(documentsDone)}/${countText(documents, "document")}`,
    countText(progress.chunks, "chunk"),
    countText(progress.childChunks, "child chunk"),
    `${numberText(Math.round(rate))} requests/s`,
  ]
    .filter(Boolean)
    .join(" · ");
}

/** The same for programs. */
function runFacts(tally: RunTally, elapsed: number): RunFacts {
  const progress = progressOf(tally, elapsed);
  const { step, documents, documentsDone, chunks, childChunks, requests, rate, share, left } = progress;
  return {
    step,
    documents,
    documents_done: documentsDone,
    chunks,
    child_chunks: childChunks,
    requests,
    requests_per_second: Math.round(rate * 10) / 10,
    share: share ?? null,
    elapsed_seconds: secondsFrom(elapsed),
    remaining_seconds: secondsFrom(left),
    in_flight: progress.inFlight,
    silent_seconds: secondsFrom(progress.waiting),
  };
}

/** Renders how far a run, or its plan, is; which shard it is stands first. */
export function renderRun(tally: RunTally, shard?: ShardPlace): Rendering {
  const line = (progress: RunProgress) =>
    shard ? `${shardText(shard)} · ${renderProgress(progress)}` : renderProgress(progress);
  return {
    facts: (elapsed) => runFacts(tally, elapsed),
    lines: (elapsed) => [line(progressOf(tally, elapsed))],
    block: (elapsed, screen) => {
      const progress = progressOf(tally, elapsed);
      return [renderBarLine(progress.share, line(progress), screen)];
    },
    drawEvery: 100,
  };
}

/** A bar and as much of the text as fits beside it. */
export function renderBarLine(share: number | undefined, text: string, { columns, paint }: Screen): string {
  const bar = renderBar(share, columns < 100 ? 12 : 24);
  const room = columns - 1;
  if (room < bar.length + 3) return paint.good(cutToWidth(bar, room));
  return `${paint.good(bar)}  ${cutToWidth(text, room - bar.length - 2)}`;
}

/** `━━━━━╌╌╌╌╌  50 %`; as wide with every share. */
export function renderBar(share: number | undefined, width = 24): string {
  const full = Math.floor((share ?? 0) * width);
  const percent = share === undefined ? "" : `${Math.floor(share * 100)} %`;
  return `${"━".repeat(full)}${"╌".repeat(width - full)} ${percent.padStart(5)}`;
}

/** Milliseconds without an answer that are worth a word. */
const long = 10_000;

/** Milliseconds for which requests in flight have had no answer; undefined where that is not worth a word. */
export function waitingTime(
  { inFlight, silentSince }: Pick<RunTally["requests"], "inFlight" | "silentSince">,
  now: number,
): number | undefined {
  if (inFlight === 0 || silentSince === undefined || now - silentSince < long) return undefined;
  return now - silentSince;
}

/** `waiting 50 s for 3 answers`. */
export function waitingText(milliseconds: number, answers: number): string {
  const seconds = Math.round(milliseconds / 1_000);
  const time = seconds < 60 ? `${seconds} s` : durationText(seconds * 1_000);
  return `waiting ${time} for ${countText(answers, "answer")}`;
}

/** The progress of a verification after `elapsed` milliseconds. */
interface ReadProgress {
  readonly step: string;
  /** From 0 to 1. */
  readonly share: number;
  /** Milliseconds to go; undefined as long as nothing can be said. */
  readonly left: number | undefined;
}

function readProgressOf({ step, expected, done }: ReadTally, elapsed: number): ReadProgress {
  const share = expected > 0 ? Math.min(1, done / expected) : 0;
  return { step, share, left: share < 0.01 ? undefined : elapsed / share - elapsed };
}

/** `reading chunks.csv · 5.0 s left` */
function renderReadProgress({ step, left }: ReadProgress): string {
  return left === undefined || left < 100 ? step : `${step} · ${durationText(left)} left`;
}

/** The same for programs. */
function readFacts(tally: ReadTally, elapsed: number): ReadFacts {
  const { step, share, left } = readProgressOf(tally, elapsed);
  return { step, share, elapsed_seconds: secondsFrom(elapsed), remaining_seconds: secondsFrom(left) };
}

/** Renders how far a dump is read. */
export function renderReading(tally: ReadTally): Rendering {
  return {
    facts: (elapsed) => readFacts(tally, elapsed),
    lines: (elapsed) => {
      const progress = readProgressOf(tally, elapsed);
      return [`${Math.floor(progress.share * 100)} % · ${renderReadProgress(progress)}`];
    },
    block: (elapsed, screen) => {
      const progress = readProgressOf(tally, elapsed);
      return [renderBarLine(progress.share, renderReadProgress(progress), screen)];
    },
    drawEvery: 100,
  };
}

/**
 * Gives the progress of dumps that are made one after the other. The time of each counts from when it was first looked at, as
 * other work came before.
 */
export function watchDumps(): (dump: RunTally, elapsed: number) => RunProgress {
  let current: RunTally | undefined;
  let begun = 0;
  return (dump, elapsed) => {
    if (dump !== current) [current, begun] = [dump, elapsed];
    return progressOf(dump, elapsed - begun);
  };
}
