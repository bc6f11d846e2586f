import type { WatchTally } from "../indexing/watch-options.js";
import type { WatchedDocument } from "../indexing/watched-documents.js";
import { countText } from "./text.js";
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
    facts: () => watchProgress(tally.documents, now()),
    lines: () => renderWatchLines(tally, now()),
    block: (_elapsed, screen) => {
      const [first = "", ...bars] = renderWatchBlock(tally, now(), screen);
      return [first, ...bars.map(screen.paint.good)];
    },
    drawEvery: 1_000,
  };
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
      message: "reading",
      facts: changed.map((document) => documentProgress(document, now)),
      lines: [
        ...moved.slice(0, mostLines).map((document) => renderDocumentLine(document, now)),
        ...(more > 0 ? [`… and ${countText(more, "more document")} came to another stage`] : []),
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
