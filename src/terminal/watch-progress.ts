import { countText } from "../amounts.js";
import type { ReadingFacts, WatchFacts } from "../results/log.js";
import type { Row } from "../rows/row.js";
import type { WatchedDocument, WatchTally } from "../status/watched-documents.js";
import { secondsFrom } from "./text.js";
import type { News, Rendering } from "./view.js";
import {
  documentProgress,
  renderDocumentLine,
  renderWatchBlock,
  renderWatchLines,
  watchProgress,
} from "./watch-lines.js";

/** Renders how far the indexing of watched documents is: on a terminal with a bar for each. */
export function renderWatch(tally: WatchTally, now = Date.now): Rendering {
  return {
    facts: (elapsed) => watchFacts(tally, elapsed, now()),
    lines: () => renderWatchLines(tally, now()),
    block: (_elapsed, screen) => {
      const [first = "", ...bars] = renderWatchBlock(tally, now(), screen);
      return [first, ...bars.map(screen.paint.good)];
    },
    drawEvery: 1_000,
  };
}

function watchFacts({ documents }: WatchTally, elapsed: number, now: number): WatchFacts {
  const { left, ...counts } = watchProgress(documents, now);
  return { ...counts, elapsed_seconds: secondsFrom(elapsed), remaining_seconds: secondsFrom(left) };
}

function readingFacts(document: WatchedDocument, now: number): ReadingFacts {
  const { row } = document;
  const { share, left } = documentProgress(document, now);
  return {
    dataset_id: String(row.dataset_id),
    batch: String(row.batch),
    document_id: textOf(row, "document_id"),
    indexing_status: textOf(row, "indexing_status"),
    completed_segments: countOf(row, "completed_segments"),
    total_segments: countOf(row, "total_segments"),
    share,
    remaining_seconds: secondsFrom(left),
  };
}

function textOf(row: Row, name: string): string | null {
  const value = row[name];
  return typeof value === "string" ? value : null;
}

function countOf(row: Row, name: string): number | null {
  const value = row[name];
  return typeof value === "number" ? value : null;
}

/** Lines that name a document after one poll, at the most. */
const mostLines = 10;

/** Makes news of the documents that a poll found new or changed: every reading for machines, every new stage for people. */
export class WatchNews {
  readonly #stages = new Map<string, unknown>();

  from(changed: readonly WatchedDocument[], now = Date.now()): News {
    const moved = changed.filter((document) => this.#isNewStage(document));
    const more = moved.length - mostLines;
    return {
      facts: changed.map((document) => readingFacts(document, now)),
      lines: [
        ...moved.slice(0, mostLines).map((document) => renderDocumentLine(document, now)),
        ...(more > 0 ? [`… and ${countText(more, "more document")} reached another stage`] : []),
      ],
    };
  }

  #isNewStage({ row }: WatchedDocument): boolean {
    const key = JSON.stringify([row.dataset_id, row.batch, row.document_id]);
    const isNew = this.#stages.get(key) !== row.indexing_status;
    this.#stages.set(key, row.indexing_status);
    return isNew;
  }
}
