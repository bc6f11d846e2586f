import type * as v from "valibot";
import type { Dump } from "../../dump/open-dump.js";
import { StopError } from "../../errors.js";
import type { WrittenRow } from "../../journal/journal-state.js";
import { count, oneOf, orNull, result, text } from "../../schema.js";
import {
  type ChildRow,
  type ChunkRow,
  childHash,
  haveSameTexts,
  isSameSet,
  keywordsHash,
  textsHash,
} from "../document-rows.js";
import type { RowPair } from "./proof-pairs.js";

/** A row that differs from the expected one, and the reason as a sentence. For a row of the run, the id is the one in the run. */
const rowDifference = result({ level: oneOf("chunk", "child_chunk"), id: text, position: orNull(count), reason: text });
export type RowDifference = v.InferOutput<typeof rowDifference>;

/** The members that describe a row difference. */
export const rowMembers = rowDifference.entries;

/** A difference between a run and a service. Ids are those in the run; a row that only the service has keeps its id there. */
export const dumpDifference = result({
  ...rowMembers,
  level: oneOf("dataset", "document", "chunk", "child_chunk"),
  document_id: orNull(text),
});
export type DumpDifference = v.InferOutput<typeof dumpDifference>;

/** A difference of a whole dataset or document. */
export function differenceOf(level: "dataset" | "document", id: string, reason: string): DumpDifference {
  return { level, document_id: level === "document" ? id : null, id, position: null, reason };
}

type Chunk = Pick<
  ChunkRow,
  "id" | "position" | "content" | "answer" | "keywords" | "enabled" | "status" | "attachment_ids"
>;
type Child = Pick<ChildRow, "id" | "position" | "content" | "type"> & { readonly segment_id: string | null };

interface Pairs {
  readonly chunks: AsyncIterable<RowPair<Chunk>>;
  readonly children: AsyncIterable<RowPair<Child>>;
}

type Differences = AsyncGenerator<RowDifference>;

/** Explains how a row differs from the expected one; null: it does not. */
interface RowRules<Row> {
  readonly pair: (old: Row, live: Row, isMoved: boolean) => string | null;
  /** For a row that no longer exists. */
  readonly gone: (old: Row) => string | null;
  /** For a row that did not exist before. */
  readonly fresh: (live: Row) => string | null;
}

/** Judges the pairs of rows of one level. A difference has the id and position of the old row, otherwise of the live row. */
async function* findDifferences<Row extends Pick<Chunk, "id" | "position">>(
  level: RowDifference["level"],
  pairs: AsyncIterable<RowPair<Row>>,
  rules: RowRules<Row>,
): Differences {
  for await (const { old, live, isMoved } of pairs) {
    const row = old ?? live;
    if (!row) continue;
    const reason = old && live ? rules.pair(old, live, isMoved) : old ? rules.gone(old) : rules.fresh(row);
    if (reason !== null) yield { level, id: row.id, position: row.position, reason };
  }
}

/** `it differs in text and state`; null without flaws. */
function differsIn(flaws: Readonly<Record<string, boolean>>): string | null {
  const found = Object.keys(flaws).filter((name) => flaws[name]);
  return found.length > 0 ? `it differs in ${found.join(" and ")}` : null;
}

/** Compares a document of a run with its current state. `pairs`: by id. */
export async function* compareSame({ chunks, children }: Pairs): Differences {
  const rules = { gone: () => "it is gone", fresh: () => "it is new: the run does not have it" };
  yield* findDifferences("chunk", chunks, {
    ...rules,
    pair: (old, live) =>
      differsIn({
        text: !haveSameTexts(old, live),
        keywords: !isSameSet(old.keywords, live.keywords),
        state: old.enabled !== live.enabled,
        position: old.position !== live.position,
        status: old.status !== live.status,
      }),
  });
  yield* findDifferences("child_chunk", children, {
    ...rules,
    pair: (old, live) =>
      differsIn({
        text: old.content !== live.content,
        position: old.position !== live.position,
        type: old.type !== live.type,
        chunk: old.segment_id !== live.segment_id,
      }),
  });
}

/** The rules for the rows of a document's copy, which has its own ids. */
interface CopyRules {
  /** The id at the service of an attachment of the run; undefined if the plan announced its loss. */
  readonly attachmentOf: (id: string) => string | undefined;
  /** Ids of rows that failed to copy; already reported. */
  readonly failed: ReadonlySet<string>;
  /** Whether the service may have disabled chunks together with their document. */
  readonly mayBeDisabled: boolean;
}

/**
 * Compares the copyable rows of a run's document with its copy: every chunk must be there once, in order, with its children in
 * order and all parts that a request can write, and nothing else may be there. `pairs`: by text.
 */
export async function* compareCopy(
  { chunks, children }: Pairs,
  { failed, attachmentOf, mayBeDisabled }: CopyRules,
): Differences {
  const rulesOf = <Row extends { readonly id: string }>(flawsOf: RowRules<Row>["pair"]): RowRules<Row> => ({
    pair: (old, live, isMoved) => (failed.has(old.id) ? null : flawsOf(old, live, isMoved)),
    gone: ({ id }) => (failed.has(id) ? null : "it is not in the copy"),
    fresh: () => "it is in the copy, and not in the run",
  });
  const chunkRules = rulesOf<Chunk>((old, live, isMoved) => {
    const attachments = old.attachment_ids.map(attachmentOf).filter((id) => id !== undefined);
    const hadKeywords = old.keywords !== null && old.keywords.length > 0; // without any, the service may choose some
    return differsIn({
      text: !haveSameTexts(old, live),
      place: isMoved,
      keywords: hadKeywords && !isSameSet(old.keywords, live.keywords),
      state: old.enabled !== live.enabled && !(mayBeDisabled && old.enabled),
      status: live.status !== "completed",
      attachments: !isSameSet(attachments, live.attachment_ids),
    });
  });
  // A request can make only customized child chunks, so an automatic one may be of either type in the copy.
  const childRules = rulesOf<Child>((old, live, isMoved) =>
    differsIn({
      text: old.content !== live.content,
      place: isMoved,
      type: old.type === "customized" && live.type !== "customized",
    }),
  );
  yield* findDifferences("chunk", chunks, chunkRules);
  yield* findDifferences("child_chunk", children, childRules);
}

/** A request without an answer that may have added a row, with the hash of its text. */
type OpenAdd = Readonly<Record<"document_id" | "parent_id" | "texts_sha256", string | null>> & {
  readonly write: string;
};

interface Restored {
  readonly documentId: string;
  /** All rows that the restore wrote. */
  readonly written: readonly WrittenRow[];
  /** Each may have added one chunk or child. */
  readonly openAdds: readonly OpenAdd[];
}

/**
 * Compares a document with its state before a restore: every write must have had its intended effect, and nothing else may differ. Children
 * that the service makes for an added chunk are expected. Rows that the service could not index are skipped: they
 * are reported as failed. `pairs`: by id, with all written rows.
 */
export async function* compareRestored(
  { chunks, children }: Pairs,
  { documentId, written, openAdds }: Restored,
): Differences {
  const ours = written.filter((row) => row.document_id === documentId);
  const newParents = new Set(ours.filter(({ level, is_added }) => level === "chunk" && is_added).map(({ id }) => id));
  const left = openAdds.filter((add) => add.document_id === documentId);
  const isLate = (write: string, hash: string, parent: string | null) => {
    const at = left.findIndex((add) => add.write === write && add.texts_sha256 === hash && add.parent_id === parent);
    return at >= 0 && left.splice(at, 1).length > 0; // each accounts for one row
  };
  const isLateChunk = (chunk: Chunk) => {
    if (left.length === 0) return false; // hashing every row would take long
    const isFound = isLate("add chunks", textsHash(chunk), null);
    if (isFound) newParents.add(chunk.id);
    return isFound;
  };
  const isLateOrMade = ({ segment_id, type, content }: Child) =>
    (left.length > 0 && isLate("add child", childHash(content), segment_id)) ||
    (newParents.has(segment_id ?? "") && type !== "customized");
  yield* compareWritten("chunk", chunks, ours, { flawsOf: chunkFlaws, isExpected: isLateChunk });
  yield* compareWritten("child_chunk", children, ours, { flawsOf: childFlaws, isExpected: isLateOrMade });
}

interface WrittenRules<Row> {
  /** The columns in which a row differs, as text from `differsIn`. */
  readonly flawsOf: (before: Row | null, after: Row, written: WrittenRow | undefined) => string | null;
  /** Whether the service made a new row that we did not write. */
  readonly isExpected: (after: Row) => boolean;
}

async function* compareWritten<Row extends Pick<Chunk, "id" | "position">>(
  level: WrittenRow["level"],
  pairs: AsyncIterable<RowPair<Row>>,
  ours: readonly WrittenRow[],
  { flawsOf, isExpected }: WrittenRules<Row>,
): Differences {
  const written = new Map(ours.filter((row) => row.level === level).map((row) => [row.id, row]));
  const missing = new Set(written.keys());
  const judged = (before: Row | null, after: Row) => {
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

function chunkFlaws(before: Chunk | null, after: Chunk, written: WrittenRow | undefined): string | null {
  const { texts_sha256: hash = null, keywords_sha256: keywords = null } = written ?? {};
  const isSameText = hash === null ? before !== null && haveSameTexts(before, after) : textsHash(after) === hash;
  const areExpected = keywords === null || keywordsHash(after.keywords) === keywords; // after a write without any, the service chooses
  return differsIn({
    text: !isSameText,
    keywords: !(hash === null ? isSameSet(before?.keywords ?? null, after.keywords) : areExpected),
    state: after.enabled !== (written ? !written.is_disabled : before?.enabled),
    status: after.status !== before?.status && (hash === null || after.status !== "completed"),
    attachments: !isSameSet(after.attachment_ids, before?.attachment_ids ?? []),
  });
}

function childFlaws(before: Child | null, after: Child, written: WrittenRow | undefined): string | null {
  const isSameText = written ? childHash(after.content) === written.texts_sha256 : after.content === before?.content;
  const type = written ? "customized" : (before?.type ?? null);
  const parent = before?.segment_id ?? written?.parent_id ?? null;
  return differsIn({ text: !isSameText, type: after.type !== type, chunk: after.segment_id !== parent });
}

/** Throws StopError if a document of the service could not be read completely: then it cannot be compared. */
export function refuseUnread({ manifest }: Pick<Dump, "manifest">): void {
  const unread = manifest.documents.filter(({ status }) => status !== "complete");
  const sentences = unread.map(({ document_id, status, error }) => `${document_id}: ${error ?? status}`);
  if (unread.length > 0) throw notProved("documents could not be read completely", sentences);
}

export function notProved(reason: string, sentences: readonly string[]): StopError {
  const lines = [`nothing was proved, as ${reason} at the service:`, ...sentences.map((sentence) => `  ${sentence}`)];
  return new StopError([...lines, "run the same command again"].join("\n"));
}
