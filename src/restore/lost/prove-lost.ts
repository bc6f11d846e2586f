import { isSameSet } from "../../compare/document-rows.js";
import type { WrittenRow } from "../journal-facts.js";
import type { Intent } from "../journal-lines.js";
import type { RowPair } from "../proof-pairs.js";
import { differsIn, findDifferences, type ProvedRow } from "../prove.js";
import type { RowDifference } from "../result.js";
import {
  childHash,
  haveSameTexts,
  keywordsHash,
  type StandingChild,
  type StandingChunk,
  textsHash,
} from "../standing-rows.js";
import type { ProofDifference } from "./restore-options.js";

type Chunk = Omit<StandingChunk, "document_id">;

type OpenAdd = Pick<Intent, "write" | "document_id" | "parent_id" | "texts_sha256">;

interface Proof {
  readonly documentId: string;
  /** The rows before the journal's first write and after its last one, paired by id; includes all written rows. */
  readonly pairs: {
    readonly chunks: AsyncIterable<RowPair<Chunk>>;
    readonly children: AsyncIterable<RowPair<StandingChild>>;
  };
  /** All writes in the journal: `journal.written`. */
  readonly written: readonly WrittenRow[];
  /** Adds without an answer. Each may have added one chunk or child. */
  readonly openAdds?: readonly OpenAdd[];
}

/**
 * Compares a document with its state before a restore: every write must have had its intended effect, and nothing else may differ. Children
 * that the service makes for an added chunk are expected. Rows that the service could not index are skipped: they
 * are reported as failed.
 */
export async function* proveRestore({
  documentId: document_id,
  pairs,
  written,
  openAdds = [],
}: Proof): AsyncGenerator<ProofDifference> {
  const ours = written.filter((row) => row.document_id === document_id);
  const adds = openAdds.filter((add) => add.document_id === document_id);
  const newParents = new Set(ours.filter(({ level, is_added }) => level === "chunk" && is_added).map(({ id }) => id));
  const isLate = takeOnce(adds);
  const chunks = proveRows("chunk", pairs.chunks, ours, {
    flawsOf: flawsOfChunk,
    isExpected: (chunk) => {
      if (!isLate((add) => isChunkOf(chunk, add))) return false;
      newParents.add(chunk.id);
      return true;
    },
  });
  const children = proveRows("child_chunk", pairs.children, ours, {
    flawsOf: flawsOfChild,
    isExpected: (child) =>
      isLate((add) => isChildOf(child, add)) || (newParents.has(child.segment_id ?? "") && child.type !== "customized"),
  });
  for await (const difference of chunks) yield { document_id, ...difference };
  for await (const difference of children) yield { document_id, ...difference };
}

/** Returns a function that checks whether one of these matches, and uses each of them once. */
function takeOnce<T>(all: readonly T[]): (isMatch: (one: T) => boolean) => boolean {
  const left = [...all];
  return (isMatch) => {
    const at = left.findIndex(isMatch);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  };
}

function isChunkOf(chunk: Chunk, { write, texts_sha256 }: OpenAdd): boolean {
  return write === "add chunks" && textsHash(chunk) === texts_sha256;
}

function isChildOf({ segment_id, content }: StandingChild, { write, parent_id, texts_sha256 }: OpenAdd): boolean {
  return write === "add child" && segment_id === parent_id && childHash(content) === texts_sha256;
}

interface Rules<T> {
  /** The columns in which a row differs, as text from `differsIn`. */
  readonly flawsOf: (before: T | null, after: T, written: WrittenRow | undefined) => string | null;
  /** Whether the service made a new row that we did not write. */
  readonly isExpected: (after: T) => boolean;
}

async function* proveRows<T extends ProvedRow>(
  level: WrittenRow["level"],
  pairs: AsyncIterable<RowPair<T>>,
  ours: readonly WrittenRow[],
  { flawsOf, isExpected }: Rules<T>,
): AsyncGenerator<RowDifference> {
  const written = new Map(ours.filter((row) => row.level === level).map((row) => [row.id, row]));
  const missing = new Set(written.keys());
  const judged = (before: T | null, after: T) => {
    const own = written.get(after.id);
    missing.delete(after.id);
    const flaws = own?.is_indexed === false ? null : flawsOf(before, after, own);
    return flaws && `${flaws}: ${own ? "it is not as this restore wrote it" : "this restore did not change it"}`;
  };
  yield* findDifferences(level, pairs, {
    pair: judged,
    gone: ({ id }) => {
      missing.delete(id);
      return "it is gone";
    },
    fresh: (row) => {
      if (written.has(row.id)) return judged(null, row);
      return isExpected(row) ? null : "it is new, and this restore did not write it";
    },
  });
  for (const id of missing) yield { level, id, position: null, reason: "this restore added it, and it is not there" };
}

function flawsOfChunk(before: Chunk | null, after: Chunk, written: WrittenRow | undefined): string | null {
  const hash = written?.texts_sha256 ?? null;
  const isSameText = hash === null ? before !== null && haveSameTexts(before, after) : textsHash(after) === hash;
  const enabled = written ? !written.is_disabled : before?.enabled;
  const isStatus = after.status === before?.status || (hash !== null && after.status === "completed");
  const attachments = before?.attachment_ids ?? [];
  return differsIn({
    text: !isSameText,
    keywords: !haveExpectedKeywords(before, after, written),
    state: after.enabled !== enabled,
    status: !isStatus,
    attachments: !isSameSet(after.attachment_ids, attachments),
  });
}

/** After a write without keywords, the service may have chosen any. */
function haveExpectedKeywords(before: Chunk | null, after: Chunk, written: WrittenRow | undefined): boolean {
  if (written && written.texts_sha256 !== null) {
    return written.keywords_sha256 === null || keywordsHash(after.keywords) === written.keywords_sha256;
  }
  return isSameSet(before?.keywords ?? null, after.keywords);
}

function flawsOfChild(
  before: StandingChild | null,
  after: StandingChild,
  written: WrittenRow | undefined,
): string | null {
  const isSameText = written ? childHash(after.content) === written.texts_sha256 : after.content === before?.content;
  const type = written ? "customized" : (before?.type ?? null);
  const parent = before?.segment_id ?? written?.parent_id ?? null;
  return differsIn({ text: !isSameText, type: after.type !== type, chunk: after.segment_id !== parent });
}
