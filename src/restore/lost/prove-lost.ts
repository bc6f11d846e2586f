import { isSameSet } from "../../compare/document-rows.js";
import type { WrittenRow } from "../journal-facts.js";
import type { Intent } from "../journal-lines.js";
import { compareRows, differsIn, type ProvedRow } from "../prove.js";
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

/** The rows of one document, as far as they are compared. */
export interface ComparedRows {
  readonly chunks: readonly Chunk[];
  readonly children: readonly StandingChild[];
}

type OpenAdd = Pick<Intent, "write" | "document_id" | "parent_id" | "texts_sha256">;

interface Proof {
  readonly documentId: string;
  /** From before the first write of the journal. */
  readonly before: ComparedRows;
  readonly after: ComparedRows;
  /** All that the journal says was written: `journal.written`. */
  readonly written: readonly WrittenRow[];
  /** Adds whose answer never came: `journal.openAdds`. Each may have brought one chunk or child. */
  readonly openAdds?: readonly OpenAdd[];
}

/**
 * Compares a document with what it was before a restore: every write must be there as it was meant, and nothing else may differ. Children
 * that the service makes by itself below an added chunk are expected. Rows that the service could not index are not looked at: they
 * are reported as failed.
 */
export function proveRestore({ documentId, before, after, written, openAdds = [] }: Proof): readonly ProofDifference[] {
  const ours = written.filter(({ document_id }) => document_id === documentId);
  const known = new Set([...before.chunks, ...before.children, ...ours].map(({ id }) => id));
  const isFresh = ({ id }: ProvedRow) => !known.has(id);
  const adds = openAdds.filter(({ document_id }) => document_id === documentId);
  const late = new Set([
    ...lateRows(after.chunks.filter(isFresh), adds, isChunkOf),
    ...lateRows(after.children.filter(isFresh), adds, isChildOf),
  ]);
  const added = ours.filter(({ level, is_added }) => level === "chunk" && is_added).map(({ id }) => id);
  const newParents = new Set([...added, ...late]);
  const found = [
    ...proveRows("chunk", [before.chunks, after.chunks], ours, {
      flawsOf: flawsOfChunk,
      isExpected: ({ id }) => late.has(id),
    }),
    ...proveRows("child_chunk", [before.children, after.children], ours, {
      flawsOf: flawsOfChild,
      isExpected: ({ id, segment_id, type }) =>
        late.has(id) || (newParents.has(segment_id ?? "") && type !== "customized"),
    }),
  ];
  return found.map((difference) => ({ document_id: documentId, ...difference }));
}

/** The new rows that adds without an answer brought: one for each add. */
function lateRows<T extends ProvedRow>(
  fresh: readonly T[],
  adds: readonly OpenAdd[],
  isOf: (row: T, add: OpenAdd) => boolean,
): ReadonlySet<string> {
  const late = new Set<string>();
  for (const add of adds) {
    const row = fresh.find((each) => !late.has(each.id) && isOf(each, add));
    if (row) late.add(row.id);
  }
  return late;
}

function isChunkOf(chunk: Chunk, { write, texts_sha256 }: OpenAdd): boolean {
  return write === "add chunks" && textsHash(chunk) === texts_sha256;
}

function isChildOf({ segment_id, content }: StandingChild, { write, parent_id, texts_sha256 }: OpenAdd): boolean {
  return write === "add child" && segment_id === parent_id && childHash(content) === texts_sha256;
}

interface Rules<T> {
  /** The columns in which a row differs, as `differsIn` says it. */
  readonly flawsOf: (before: T | undefined, after: T, written: WrittenRow | undefined) => string | null;
  /** Whether a new row that we did not write is the service's own. */
  readonly isExpected: (after: T) => boolean;
}

function proveRows<T extends ProvedRow>(
  level: WrittenRow["level"],
  [old, now]: readonly [readonly T[], readonly T[]],
  ours: readonly WrittenRow[],
  { flawsOf, isExpected }: Rules<T>,
): readonly RowDifference[] {
  const written = new Map(ours.filter((row) => row.level === level).map((row) => [row.id, row]));
  const judged = (before: T | undefined, after: T) => {
    const own = written.get(after.id);
    const flaws = own?.is_indexed === false ? null : flawsOf(before, after, own);
    return flaws && `${flaws}: ${own ? "it is not as this restore wrote it" : "this restore did not change it"}`;
  };
  const there = new Set([...old, ...now].map(({ id }) => id));
  const lost = [...written.keys()].filter((id) => !there.has(id));
  return [
    ...compareRows(
      level,
      { old, now },
      {
        pair: judged,
        gone: () => "it is gone",
        fresh: (row) => {
          if (written.has(row.id)) return judged(undefined, row);
          return isExpected(row) ? null : "it is new, and this restore did not write it";
        },
      },
    ),
    ...lost.map((id) => ({ level, id, position: null, reason: "this restore added it, and it is not there" })),
  ];
}

function flawsOfChunk(before: Chunk | undefined, after: Chunk, written: WrittenRow | undefined): string | null {
  const hash = written?.texts_sha256 ?? null;
  const isSameText = hash === null ? before !== undefined && haveSameTexts(before, after) : textsHash(after) === hash;
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

/** A write without keywords leaves them to the service, which may make some of its own. */
function haveExpectedKeywords(before: Chunk | undefined, after: Chunk, written: WrittenRow | undefined): boolean {
  if (written && written.texts_sha256 !== null) {
    return written.keywords_sha256 === null || keywordsHash(after.keywords) === written.keywords_sha256;
  }
  return isSameSet(before?.keywords ?? null, after.keywords);
}

function flawsOfChild(
  before: StandingChild | undefined,
  after: StandingChild,
  written: WrittenRow | undefined,
): string | null {
  const isSameText = written ? childHash(after.content) === written.texts_sha256 : after.content === before?.content;
  const type = written ? "customized" : (before?.type ?? null);
  const parent = before?.segment_id ?? written?.parent_id ?? null;
  return differsIn({ text: !isSameText, type: after.type !== type, chunk: after.segment_id !== parent });
}
