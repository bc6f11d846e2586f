import type { DocumentRef } from "../client/knowledge-api.js";
import type { AnswerLog } from "./answer-log.js";
import { AnswerSum, type RowBytes } from "./document-bytes.js";

/** Bytes of an answer that belong to no row: total, page, limit and the like. */
const envelope = 100;

/** As many rows does the mean of all documents of a form count for in the mean of one, of which only a few may have been seen. */
const general = 2;

/** The rows that a run reads of a document. */
export interface DocumentReading {
  readonly ref: DocumentRef;
  readonly docForm: string | null;
  /** Those of a second sweep included. */
  readonly chunks: number;
  /** Child chunks of the lists that are asked. */
  readonly children: number;
}

/** The size of what a run reads: its requests, and the rows of its documents. */
export interface ReadingSize {
  readonly requests: number;
  readonly documents: readonly DocumentReading[];
}

/**
 * Bytes that a run receives. Of each document, the rows that came count as they came, and the others as these in the mean:
 * languages, embedded children and lengths differ from document to document. `received` are the bytes of all answers.
 */
export function receivedBytes(answers: AnswerLog, received: number, size: ReadingSize): number {
  const scale = answers.bytes > 0 ? received / answers.bytes : 1;
  const share = shareOfPages(answers);
  const chunks = new MeansOfForms();
  const children = new MeansOfForms();
  const seen = size.documents.map(({ ref, docForm }) => {
    const { pages, alone, lists } = answers.ofDocument(ref);
    const ofChunks = pages.rows > 0 ? net(pages) : net(alone, share);
    return { chunks: chunks.seen(docForm, ofChunks), children: children.seen(docForm, net(lists)) };
  });
  let rows = net(answers.of("other")).bytes;
  for (const [at, document] of size.documents.entries()) {
    rows += chunks.extrapolated(document.chunks, document.docForm, seen[at]?.chunks);
    rows += children.extrapolated(document.children, document.docForm, seen[at]?.children);
  }
  return Math.round(scale * (size.requests * envelope + rows));
}

/** The bytes of rows, of all documents of one form in the mean. */
class MeansOfForms {
  readonly #sums = new Map<string | null, AnswerSum>();

  seen(docForm: string | null, sum: RowBytes): RowBytes {
    const all = this.#sums.get(docForm) ?? new AnswerSum();
    all.add(sum);
    this.#sums.set(docForm, all);
    return sum;
  }

  /** The rows that came, as they came, and the rest in their mean, which leans on that of the form. */
  extrapolated(count: number, docForm: string | null, seen: RowBytes = new AnswerSum()): number {
    if (seen.rows >= count) return count * meanOfRow(seen);
    const mean = meanOfRow(this.#sums.get(docForm) ?? seen);
    return seen.bytes + ((count - seen.rows) * (seen.bytes + general * mean)) / (seen.rows + general);
  }
}

/** Rows that came alone take more than on a full page where answers are compressed: the share of it that a page takes. */
function shareOfPages(answers: AnswerLog): number {
  const [alone, pages] = [net(answers.of("chunk")), net(answers.of("chunk_page"))];
  if (!answers.isCompressed || alone.bytes === 0 || pages.rows === 0) return 1;
  return Math.min(1, meanOfRow(pages) / meanOfRow(alone));
}

function net({ answers, rows, bytes }: RowBytes, share = 1): RowBytes {
  return { answers, rows, bytes: share * Math.max(0, bytes - envelope * answers) };
}

function meanOfRow({ rows, bytes }: RowBytes): number {
  return rows === 0 ? 0 : bytes / rows;
}
