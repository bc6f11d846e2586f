import { countText, durationText, numberText } from "../amounts.js";
import {
  countsOf,
  isOver,
  timeLeft,
  type WatchedDocument,
  type WatchedDocuments,
  type WatchTally,
} from "../status/watched-documents.js";
import { cutToWidth } from "./display-width.js";
import { renderBar } from "./progress.js";
import { terminalText } from "./text.js";

/** How far one document is. */
export interface DocumentProgress {
  /** From 0 to 1; null where nothing is counted. */
  readonly share: number | null;
  /** Milliseconds to go; null as long as nothing can be said. */
  readonly left: number | null;
}

export function documentProgress({ row, samples }: WatchedDocument, now: number): DocumentProgress {
  const counts = countsOf(row);
  return { share: counts ? counts.done / counts.total : null, left: timeLeft(samples, row, now) ?? null };
}

/** How far the whole watch is. */
export interface WatchProgress {
  readonly documents: number;
  readonly completed: number;
  /** In an error, or gone from their batch. */
  readonly failed: number;
  /** Milliseconds until the slowest is done; null unless that can be said of each. */
  readonly left: number | null;
}

export function watchProgress(documents: WatchedDocuments, now: number): WatchProgress {
  const all = [...documents.values()];
  const waiting = all.filter((document) => !isOver(document));
  const completed = all.filter(({ state }) => state === "completed").length;
  const left = waiting.map(({ samples, row }) => timeLeft(samples, row, now));
  const known = left.filter((each) => each !== undefined);
  const longest = known.length === left.length && known.length > 0 ? known.reduce((a, b) => Math.max(a, b)) : null;
  return { documents: all.length, completed, failed: all.length - waiting.length - completed, left: longest };
}

/** After so many milliseconds without an answer it is said how old the readings are. */
const old = 60_000;

/** `1 of 3 documents completed, 1 failed · 2 min 5 s left` */
export function renderWatchProgress({ documents, polls, readAt }: WatchTally, now: number): string {
  if (polls === 0) return "reading the status of the batches";
  const { documents: all, completed, failed, left } = watchProgress(documents, now);
  const done = `${numberText(completed)} of ${countText(all, "document")} completed`;
  const age = readAt === undefined ? undefined : now - readAt;
  return [
    `${done}${failed > 0 ? `, ${numberText(failed)} failed` : ""}`,
    leftText(left),
    age !== undefined && age > old && `last read ${durationText(age)} ago`,
  ]
    .filter(Boolean)
    .join(" · ");
}

/** `document 1e63378f-…: indexing · 360 of 721 chunks, 49 % · 2 min 5 s left` */
export function renderDocumentLine(document: WatchedDocument, now: number): string {
  const { share, left } = documentProgress(document, now);
  const counts = countsOf(document.row);
  const done = counts && `${numberText(counts.done)} of ${countText(counts.total, "chunk")}`;
  const facts = [stageText(document), done && `${done}, ${Math.floor((share ?? 0) * 100)} %`, leftText(left)];
  return `document ${terminalText(String(document.row.document_id))}: ${facts.filter(Boolean).join(" · ")}`;
}

/** So few documents that are waited for are told of one by one. */
const few = 3;

/** How far it is from time to time: each document that is waited for, or, where these are many, all of them in one line. */
export function renderWatchLines(tally: WatchTally, now: number): readonly string[] {
  const waiting = [...tally.documents.values()].filter((document) => !isOver(document));
  const isOld = tally.readAt === undefined || now - tally.readAt > old;
  if (waiting.length === 0 || waiting.length > few || isOld) return [renderWatchProgress(tally, now)];
  return waiting.map((document) => renderDocumentLine(document, now));
}

/**
 * A bar for each document that is waited for, the ones at work first, and above them how far the whole is; no line is wider
 * than the terminal, and there are no more of them than it is high.
 */
export function renderWatchBlock(
  tally: WatchTally,
  now: number,
  size: { readonly columns: number; readonly rows: number },
): readonly string[] {
  const waiting = [...tally.documents.values()].filter((document) => !isOver(document));
  const atWork = waiting.toSorted((a, b) => Number(isWaiting(a)) - Number(isWaiting(b)));
  const room = Math.max(1, size.rows - 3);
  const shown = atWork.slice(0, atWork.length > room ? room - 1 : room);
  const more = atWork.length - shown.length;
  return [
    renderWatchProgress(tally, now),
    ...shown.map((document) => barLine(document, now, size.columns)),
    ...(more > 0 ? [`… and ${countText(more, "more document")}`] : []),
  ].map((line) => cutToWidth(line, size.columns - 1));
}

function barLine(document: WatchedDocument, now: number, columns: number): string {
  const { share, left } = documentProgress(document, now);
  const id = terminalText(String(document.row.document_id), 36);
  const name = columns < 80 ? id.slice(0, 8) : id;
  const bar = renderBar(share ?? undefined, columns < 100 ? 12 : 24);
  return [`${name}  ${bar}  ${stageText(document)}`, leftText(left)].filter(Boolean).join(" · ");
}

function isWaiting({ row }: WatchedDocument): boolean {
  return row.indexing_status === "waiting";
}

function stageText({ row, state }: WatchedDocument): string {
  return state === "gone" ? "gone" : terminalText(String(row.indexing_status ?? "unknown"), 30);
}

function leftText(left: number | null): string | undefined {
  return left === null ? undefined : `${durationText(left)} left`;
}
