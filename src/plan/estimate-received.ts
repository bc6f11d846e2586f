import type { AnswerLog, KindSample } from "./answer-log.js";

/** Bytes of an answer that belong to no row: total, page, limit and the like. */
const envelope = 100;

/** What a run reads. */
export interface ReadingSize {
  readonly requests: number;
  readonly chunks: number;
  /** Of the child lists that are asked. */
  readonly childChunks: number;
}

/** Bytes that a run receives, by the mean size of the rows that were seen; 0 of what none was seen. */
export function receivedBytes(answers: AnswerLog, received: number, size: ReadingSize): number {
  const scale = answers.bytes > 0 ? received / answers.bytes : 1;
  const [alone, pages, lists] = [answers.of("chunk"), answers.of("chunk_page"), answers.of("child_list")];
  const chunk = rowBytes(pages.rows > 0 ? [pages] : [alone]);
  const child = rowBytes([lists]);
  return Math.round(scale * (size.requests * envelope + size.chunks * chunk + size.childChunks * child));
}

function rowBytes(samples: readonly KindSample[]): number {
  const sum = (of: (sample: KindSample) => number) => samples.reduce((total, sample) => total + of(sample), 0);
  const rows = sum((sample) => sample.rows);
  return rows === 0 ? 0 : Math.max(0, (sum((sample) => sample.bytes) - envelope * sum((s) => s.answers)) / rows);
}
