import type { AnswerLog, KindSample } from "./answer-log.js";
import type { RowSize, RowSizes } from "./row-sizes.js";

/** Bytes of an answer that belong to no row: total, page, limit and the like. */
const envelope = 100;

/** What a run reads: its requests, and the rows as they are written. */
export interface ReadingSize {
  readonly requests: number;
  readonly chunks: RowSize;
  /** Of the child lists that are asked. */
  readonly childChunks: RowSize;
}

/**
 * Bytes that a run receives: as many for every byte that is written as in the answers that came. `received` are the bytes of
 * all of these.
 */
export function receivedBytes(answers: AnswerLog, received: number, sizes: RowSizes, size: ReadingSize): number {
  const scale = answers.bytes > 0 ? received / answers.bytes : 1;
  const [alone, pages, lists] = [answers.of("chunk"), answers.of("chunk_page"), answers.of("child_list")];
  const chunk = perWritten(pages.rows > 0 ? pages : alone, sizes.mean("chunks"));
  const child = perWritten(lists, sizes.mean("child_chunks"));
  const rows = size.chunks.jsonl * chunk + size.childChunks.jsonl * child;
  return Math.round(scale * (size.requests * envelope + rows));
}

function perWritten({ answers, rows, bytes }: KindSample, { jsonl }: RowSize): number {
  return rows === 0 || jsonl === 0 ? 0 : Math.max(0, (bytes - envelope * answers) / rows) / jsonl;
}
