import type { WatchTally } from "../indexing/watch-options.js";
import type { WatchedDocument } from "../indexing/watched-documents.js";
import type { Log } from "../log.js";
import { countText, jsonLine, paintFor, terminalText } from "./text.js";
import { type Output, repeat, type ViewOptions } from "./view.js";
import {
  documentProgress,
  renderDocumentLine,
  renderWatchBlock,
  renderWatchLines,
  watchProgress,
} from "./watch-lines.js";

/** What somebody sees while documents are watched. */
export interface WatchView {
  readonly log: Log;
  /** To be told after every poll which documents are new or changed. */
  readonly polled: (changed: readonly WatchedDocument[]) => void;
  readonly close: () => void;
}

const lineEvery = 10_000;
const drawEvery = 1_000;
/** So many documents are told of after one poll at the most. */
const mostLines = 10;

/**
 * A bar per document on a terminal; elsewhere a line where a document comes to another stage, and every 10 s how far
 * it is; JSON lines for machines, one for every reading that tells something new; or nothing.
 */
export function openWatchView(tally: WatchTally, options: ViewOptions): WatchView {
  if (options.quiet) return { log: () => {}, polled: () => {}, close: () => {} };
  if (options.format === "json") return jsonView(tally, options.output);
  return options.output.isTTY ? blockView(tally, options) : lineView(tally, options.output);
}

function jsonView(tally: WatchTally, output: Output): WatchView {
  const write = (entry: object) => output.write(`${jsonLine({ time: new Date().toISOString(), ...entry })}\n`);
  const tell = (message: string, facts: object) => write({ level: "info", message, ...facts });
  return {
    log: (level, message) => write({ level, message }),
    polled: (changed) => {
      for (const document of changed) tell("reading", documentProgress(document, Date.now()));
    },
    close: repeat(lineEvery, () => tell("progress", watchProgress(tally.documents, Date.now()))),
  };
}

function lineView(tally: WatchTally, output: Output): WatchView {
  const stages = new Map<string, unknown>();
  return {
    log: (level, message) => output.write(`${level === "warn" ? "warning: " : ""}${terminalText(message, 600)}\n`),
    polled: (changed) => {
      const moved = changed.filter(({ row }) => {
        const key = JSON.stringify([row.dataset_id, row.batch, row.document_id]);
        const isNew = stages.get(key) !== row.indexing_status;
        stages.set(key, row.indexing_status);
        return isNew;
      });
      for (const document of moved.slice(0, mostLines)) output.write(`${renderDocumentLine(document, Date.now())}\n`);
      const more = moved.length - mostLines;
      if (more > 0) output.write(`… and ${countText(more, "more document")} came to another stage\n`);
    },
    close: repeat(lineEvery, () => {
      for (const line of renderWatchLines(tally, Date.now())) output.write(`${line}\n`);
    }),
  };
}

function blockView(tally: WatchTally, { output, env }: ViewOptions): WatchView {
  const paint = paintFor(output, env);
  let height = 0;
  const clear = () => {
    const up = height > 1 ? `\x1b[${height - 1}A` : "";
    const text = height > 0 ? `\r${up}\x1b[J` : "";
    height = 0;
    return text;
  };
  const draw = () => {
    const now = Date.now();
    const size = { columns: output.columns ?? 80, rows: output.rows ?? 24 };
    const [first = "", ...bars] = renderWatchBlock(tally, now, size);
    const text = `${clear()}${[first, ...bars.map(paint.good)].join("\n")}`;
    height = 1 + bars.length;
    return text;
  };
  const stop = repeat(drawEvery, () => output.write(draw()));
  return {
    log: (level, message) => {
      const text = terminalText(message, 600);
      const above = `${clear()}${level === "warn" ? paint.bad("warning: ") : ""}${text}\n`;
      output.write(`${above}${draw()}`);
    },
    polled: () => output.write(draw()),
    close: () => {
      stop();
      output.write(clear());
    },
  };
}
