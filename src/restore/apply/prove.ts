import { isSameSet } from "../../compare/document-rows.js";
import type { ProofDifference } from "../restore-options.js";
import type { Intent, WrittenRow } from "./journal.js";
import {
  childHash,
  haveSameTexts,
  keywordsHash,
  type StandingChild,
  type StandingChunk,
  textsHash,
} from "./row-texts.js";

type Chunk = Omit<StandingChunk, "document_id">;

/** The rows of one document, as far as they are compared. */
export interface ComparedRows {
  readonly chunks: readonly Chunk[];
  readonly children: readonly StandingChild[];
}

interface Proof {
  readonly documentId: string;
  /** From before the first write of the journal. */
  readonly before: ComparedRows;
  readonly after: ComparedRows;
  /** All that the journal says was written: `journal.written`. */
  readonly written: readonly WrittenRow[];
  /** Adds of chunks whose answer never came: `journal.openAdds`. Each may have brought one chunk. */
  readonly openAdds?: readonly Pick<Intent, "document_id" | "texts_sha256">[];
}

type Found = Omit<ProofDifference, "document_id">;

/**
 * Compares a document with what it was before a restore: every write must be there as it was meant, and nothing else may differ. Children
 * that the service makes by itself below an added chunk are expected. Rows that the service could not index are not looked at: they
 * are reported as failed.
 */
export function proveRestore({ documentId, before, after, written, openAdds = [] }: Proof): readonly ProofDifference[] {
  const ours = written.filter(({ document_id }) => document_id === documentId);
  const writtenOf = (level: WrittenRow["level"]) =>
    new Map(ours.filter((row) => row.level === level).map((row) => [row.id, row]));
  const chunks = writtenOf("chunk");
  const known = new Set([...before.chunks.map(({ id }) => id), ...chunks.keys()]);
  const lateAdds = openAdds.filter(({ document_id }) => document_id === documentId);
  const late = lateChunks(
    after.chunks.filter(({ id }) => !known.has(id)),
    lateAdds,
  );
  const added = ours.filter(({ level, is_added }) => level === "chunk" && is_added).map(({ id }) => id);
  const newParents = new Set([...added, ...late]);
  const found = [
    ...compare("chunk", before.chunks, after.chunks, {
      written: chunks,
      flawsOf: flawsOfChunk,
      isExpected: ({ id }) => late.has(id),
    }),
    ...compare("child_chunk", before.children, after.children, {
      written: writtenOf("child_chunk"),
      flawsOf: flawsOfChild,
      isExpected: ({ segment_id, type }) => newParents.has(segment_id ?? "") && type !== "customized",
    }),
  ];
  return found.map((difference) => ({ document_id: documentId, ...difference }));
}

/** The new chunks that adds without an answer brought: one for each add. */
function lateChunks(fresh: readonly Chunk[], adds: NonNullable<Proof["openAdds"]>): ReadonlySet<string> {
  const late = new Set<string>();
  for (const { texts_sha256 } of adds) {
    const chunk = fresh.find((each) => !late.has(each.id) && textsHash(each) === texts_sha256);
    if (chunk) late.add(chunk.id);
  }
  return late;
}

interface Rules<T> {
  readonly written: ReadonlyMap<string, WrittenRow>;
  /** The columns in which a row differs, in words that follow "it differs in". */
  readonly flawsOf: (before: T | undefined, after: T, written: WrittenRow | undefined) => readonly string[];
  /** Whether a new row that we did not write is the service's own. */
  readonly isExpected: (after: T) => boolean;
}

function compare<T extends { readonly id: string; readonly position: number | null }>(
  level: ProofDifference["level"],
  before: readonly T[],
  after: readonly T[],
  { written, flawsOf, isExpected }: Rules<T>,
): readonly Found[] {
  const old = new Map(before.map((row) => [row.id, row]));
  const now = new Map(after.map((row) => [row.id, row]));
  const unexpected = ({ id, position }: Pick<T, "id" | "position">, reason: string) => ({
    level,
    id,
    position,
    reason,
  });
  const differing = after.flatMap((row) => {
    const ours = written.get(row.id);
    if (ours?.is_indexed === false) return [];
    if (!old.has(row.id) && !ours)
      return isExpected(row) ? [] : [unexpected(row, "it is new, and this restore did not write it")];
    const flaws = flawsOf(old.get(row.id), row, ours);
    const who = ours ? "it is not as this restore wrote it" : "this restore did not change it";
    return flaws.length > 0 ? [unexpected(row, `it differs in ${flaws.join(" and ")}: ${who}`)] : [];
  });
  const gone = before.filter(({ id }) => !now.has(id)).map((row) => unexpected(row, "it is gone"));
  const lost = [...written.values()]
    .filter(({ id }) => !now.has(id) && !old.has(id))
    .map(({ id }) => unexpected({ id, position: null }, "this restore added it, and it is not there"));
  return [...differing, ...gone, ...lost];
}

function flawsOfChunk(before: Chunk | undefined, after: Chunk, written: WrittenRow | undefined): readonly string[] {
  const hash = written?.texts_sha256 ?? null;
  const isSameText = hash === null ? before !== undefined && haveSameTexts(before, after) : textsHash(after) === hash;
  const enabled = written ? !written.is_disabled : before?.enabled;
  const isStatus = after.status === before?.status || (hash !== null && after.status === "completed");
  const attachments = before?.attachment_ids ?? [];
  return [
    ...(isSameText ? [] : ["text"]),
    ...(haveExpectedKeywords(before, after, written) ? [] : ["keywords"]),
    ...(after.enabled === enabled ? [] : ["state"]),
    ...(isStatus ? [] : ["status"]),
    ...(isSameSet(after.attachment_ids, attachments) ? [] : ["attachments"]),
  ];
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
): readonly string[] {
  const isSameText = written ? childHash(after.content) === written.texts_sha256 : after.content === before?.content;
  const type = written ? "customized" : (before?.type ?? null);
  const parent = before?.segment_id ?? written?.parent_id ?? null;
  return [
    ...(isSameText ? [] : ["text"]),
    ...(after.type === type ? [] : ["type"]),
    ...(after.segment_id === parent ? [] : ["chunk"]),
  ];
}
