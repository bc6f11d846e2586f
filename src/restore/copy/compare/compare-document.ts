import { diffArrays } from "diff";
import {
  type ChildRow,
  type ChunkRow,
  type DocumentRows,
  groupRows,
  isSameSet,
} from "../../../compare/document-rows.js";
import { ExactNumber } from "../../../rows/exact-json.js";
import { type CopySource, canCome, childCanCome, type LossPart } from "../copy-plan.js";
import type { CopyDifference } from "../copy-result.js";
import {
  compareMembers,
  compareSetting,
  type DatasetDetails,
  type DocumentDetails,
  differenceText,
  isNothing,
  isSameMetadata,
} from "./details.js";

/** The facts of a document that was restored as a copy. */
interface CopiedDocument {
  /** `originals`: the service cut its file again, by rules of its own. */
  readonly from: CopySource;
  /** Parts that were announced not to come. */
  readonly losses: ReadonlySet<LossPart>;
  /** The metadata fields of its dataset in the run: a value of any other has no place. */
  readonly fields: DatasetDetails["fields"];
}

/**
 * Compares the settings of a document with those at the service, and gives a sentence for each that differs. What the run does not
 * know is not compared. `copied`: null where it is the same document, not a copy.
 */
export function compareDocument(
  old: DocumentDetails,
  live: DocumentDetails,
  copied: CopiedDocument | null,
): readonly string[] {
  return [
    ...compareSetting("name", old.name, live.name),
    ...compareSetting("state (enabled)", old.enabled, live.enabled),
    ...compareSetting("state (archived)", old.archived, live.archived),
    ...compareSetting("indexing status", copied ? "completed" : old.indexing_status, live.indexing_status),
    ...compareMetadata(old, live, copied),
    ...(copied?.from === "originals" ? [] : compareMaking(old, live, copied)),
  ];
}

/** The differences in the settings that a document is cut by, as sentences. */
function compareMaking(old: DocumentDetails, live: DocumentDetails, copied: CopiedDocument | null): readonly string[] {
  return [
    ...compareSetting("form", old.doc_form, live.doc_form),
    ...compareSetting("language", old.doc_language, live.doc_language),
    ...(copied?.losses.has("process rule")
      ? []
      : compareMembers("process rule", old.process_rule, live.process_rule, copied !== null)),
  ];
}

function compareMetadata(
  old: DocumentDetails,
  live: DocumentDetails,
  copied: CopiedDocument | null,
): readonly string[] {
  const names = new Set([...old.metadata.keys(), ...live.metadata.keys()]);
  return [...names].flatMap((name) => {
    const [value, now] = [old.metadata.get(name), live.metadata.get(name)];
    const isLost = isNothing(now) && copied !== null && !canComeAsValue(name, value, copied);
    return isLost || isSameMetadata(value, now) ? [] : [differenceText(`metadata value "${name}"`, value, now)];
  });
}

/** A value needs a field, and can be a text or a number. */
function canComeAsValue(name: string, value: unknown, { losses, fields }: CopiedDocument): boolean {
  if (losses.has("metadata") || fields?.has(name) === false) return false;
  return typeof value === "string" || typeof value === "number" || value instanceof ExactNumber;
}

/** The rules for the rows of one document that was restored as a copy, with ids of its own. */
interface CopyRules {
  /** The id at the service of an attachment of the run; undefined where it was announced not to come. */
  readonly attachmentOf: (id: string) => string | undefined;
  /** Rows of the run that are known not to be there as they should, and were reported. */
  readonly failed: ReadonlySet<string>;
  /** False where the run read no child chunks. */
  readonly hasChildren: boolean;
}

type Rows = Pick<DocumentRows, "doc_form" | "chunks" | "children">;

/** The rows of a document that can come; a child chunk comes with its chunk alone. */
export function comingOf<T extends Rows>(rows: T): T {
  const chunks = rows.chunks.filter((chunk) => canCome(chunk, rows.doc_form));
  const ids = new Set(chunks.map(({ id }) => id));
  return {
    ...rows,
    chunks,
    children: rows.children.filter((child) => childCanCome(child) && ids.has(child.segment_id)),
  };
}

/**
 * Compares the rows of a document of a run that can come with its copy: every chunk must be there once, in order, with its children in
 * order and with all that a request can bring, and nothing else may be there.
 */
export function compareCopy(old: Rows, live: Rows, rules: CopyRules): readonly RowDifference[] {
  const { pairs, missing, extra } = alignRows(old.chunks, live.chunks, textsOf);
  const isNews = ({ id }: { readonly id: string }) => !rules.failed.has(id);
  const oldChildren = groupRows(old.children, ({ segment_id }) => segment_id);
  const liveChildren = groupRows(live.children, ({ segment_id }) => segment_id);
  const childrenOf = (pair: AlignedPair<ChunkRow>) =>
    compareChildren(oldChildren.get(pair.old.id) ?? [], liveChildren.get(pair.live.id) ?? [], isNews);
  return [
    ...pairs
      .filter((pair) => isNews(pair.old))
      .flatMap((pair) => [...chunkFlaws(pair, rules), ...(rules.hasChildren ? childrenOf(pair) : [])]),
    ...missing.filter(isNews).map((chunk) => differenceOf("chunk", chunk, noCopy)),
    ...extra.map((chunk) => differenceOf("chunk", chunk, onlyThere)),
  ];
}

const noCopy = "it is not in the copy";
const onlyThere = "it is in the copy, and not in the run";

function textsOf({ content, answer }: ChunkRow): string {
  return JSON.stringify([content, answer ?? ""]);
}

/** The service may choose keywords where the run has none. */
function chunkFlaws({ old, live, kind }: AlignedPair<ChunkRow>, rules: CopyRules): readonly RowDifference[] {
  const { attachmentOf } = rules;
  const attachments = old.attachment_ids.map(attachmentOf).filter((id) => id !== undefined);
  const hasKeywords = old.keywords !== null && old.keywords.length > 0;
  return flawsOf("chunk", old, [
    kind === "changed" && "text",
    kind === "moved" && "place",
    hasKeywords && !isSameSet(old.keywords, live.keywords) && "keywords",
    old.enabled !== live.enabled && "state",
    live.status !== "completed" && "status",
    !isSameSet(attachments, live.attachment_ids) && "attachments",
  ]);
}

function compareChildren(
  old: readonly ChildRow[],
  live: readonly ChildRow[],
  isNews: (row: ChildRow) => boolean,
): readonly RowDifference[] {
  const { pairs, missing, extra } = alignRows(old, live, ({ content }) => content);
  return [
    ...pairs.filter((pair) => isNews(pair.old)).flatMap(childFlaws),
    ...missing.filter(isNews).map((child) => differenceOf("child_chunk", child, noCopy)),
    ...extra.map((child) => differenceOf("child_chunk", child, onlyThere)),
  ];
}

/** A request makes customized child chunks only: an automatic one may be either in the copy. */
function childFlaws({ old, live, kind }: AlignedPair<ChildRow>): readonly RowDifference[] {
  return flawsOf("child_chunk", old, [
    kind === "changed" && "text",
    kind === "moved" && "place",
    old.type === "customized" && live.type !== "customized" && "type",
  ]);
}

type RowPair = Pick<DocumentRows, "chunks" | "children">;

/** Compares a document of a run with the same document as it is now, row by row, by ids. `hasChildren`: the run read child chunks. */
export function compareSame(old: RowPair, live: RowPair, hasChildren: boolean): readonly RowDifference[] {
  const children = hasChildren ? compareById("child_chunk", old.children, live.children, sameChildFlaws) : [];
  return [...compareById("chunk", old.chunks, live.chunks, sameChunkFlaws), ...children];
}

type Flaws = readonly (string | false)[];

function compareById<T extends { readonly id: string; readonly position: number | null }>(
  level: "chunk" | "child_chunk",
  old: readonly T[],
  live: readonly T[],
  flaws: (old: T, live: T) => Flaws,
): readonly RowDifference[] {
  const [before, now] = [old, live].map((rows) => new Map(rows.map((row) => [row.id, row])));
  return [
    ...old.flatMap((row) => {
      const same = now?.get(row.id);
      return same ? flawsOf(level, row, flaws(row, same)) : [differenceOf(level, row, "it is gone")];
    }),
    ...live
      .filter(({ id }) => !before?.has(id))
      .map((row) => differenceOf(level, row, "it is new: the run does not have it")),
  ];
}

function sameChunkFlaws(old: ChunkRow, live: ChunkRow): Flaws {
  return [
    (old.content !== live.content || (old.answer ?? "") !== (live.answer ?? "")) && "text",
    !isSameSet(old.keywords, live.keywords) && "keywords",
    old.enabled !== live.enabled && "state",
    old.position !== live.position && "position",
    old.status !== live.status && "status",
  ];
}

function sameChildFlaws(old: ChildRow, live: ChildRow): Flaws {
  return [
    old.content !== live.content && "text",
    old.position !== live.position && "position",
    old.type !== live.type && "type",
    old.segment_id !== live.segment_id && "chunk",
  ];
}

/** A list and its copy, brought together: every row of both is in one of the members, once. */
interface Alignment<T> {
  /** A row and its counterpart in the copy, in the order of the list. */
  readonly pairs: readonly AlignedPair<T>[];
  /** Rows without a counterpart. */
  readonly missing: readonly T[];
  /** Rows of the copy that stand for nothing in the list. */
  readonly extra: readonly T[];
}

/** `changed`: the two stand at the same place and say different things. `moved`: they say the same at different places. */
interface AlignedPair<T> {
  readonly old: T;
  readonly live: T;
  readonly kind: "same" | "changed" | "moved";
}

/** Rows that may be missing or new in all, which bounds the time. Lists that differ in more are aligned place by place. */
const mostEdits = 2_000;

/** Aligns a list with its copy by the texts that `textOf` gives. A missing row moves no other, and texts may repeat. */
export function alignRows<T>(old: readonly T[], live: readonly T[], textOf: (row: T) => string): Alignment<T> {
  const texts = { old: old.map(textOf), live: live.map(textOf) };
  const stretches = cutStretches(old, live, commonLengths(texts) ?? lengthsByPosition(texts));
  const moved = pairMoved(stretches, textOf);
  const taken = new Set(moved.values());
  const pairs: AlignedPair<T>[] = [];
  const missing: T[] = [];
  const extra: T[] = [];
  for (const { isSame, ...rows } of stretches) {
    const free = rows.live.filter((row) => !taken.has(row));
    let next = 0;
    for (const row of rows.old) {
      const counterpart = moved.get(row) ?? free[next++];
      const kind = isSame ? "same" : moved.has(row) ? "moved" : "changed";
      if (counterpart === undefined) missing.push(row);
      else pairs.push({ old: row, live: counterpart, kind });
    }
    extra.push(...free.slice(next));
  }
  return { pairs, missing, extra };
}

/** How many rows of each list come next that are the same one by one, or that differ. */
interface Lengths {
  readonly isSame: boolean;
  readonly old: number;
  readonly live: number;
}

interface Texts {
  readonly old: string[];
  readonly live: string[];
}

/** The fewest rows that differ, with as many as can be the same in order; undefined where too many differ. */
function commonLengths({ old, live }: Texts): readonly Lengths[] | undefined {
  const parts = diffArrays(old, live, { maxEditLength: mostEdits });
  return parts?.map(({ added, removed, count }) => ({
    isSame: !added && !removed,
    old: added ? 0 : count,
    live: removed ? 0 : count,
  }));
}

function lengthsByPosition({ old, live }: Texts): readonly Lengths[] {
  const both = Math.min(old.length, live.length);
  const places = Array.from({ length: both }, (_, at) => ({ isSame: old[at] === live[at], old: 1, live: 1 }));
  return [...places, { isSame: false, old: old.length - both, live: live.length - both }];
}

/** A part of both lists: the same row by row, or with nothing in common that stands in order. */
interface Stretch<T> {
  readonly isSame: boolean;
  readonly old: readonly T[];
  readonly live: readonly T[];
}

/** Cuts both lists by the lengths; neighbours that differ make one stretch. */
function cutStretches<T>(old: readonly T[], live: readonly T[], lengths: readonly Lengths[]): readonly Stretch<T>[] {
  const ends: { isSame: boolean; old: number; live: number }[] = [];
  let [oldEnd, liveEnd] = [0, 0];
  for (const { isSame, ...rows } of lengths) {
    oldEnd += rows.old;
    liveEnd += rows.live;
    if (ends.at(-1)?.isSame === isSame) ends.pop();
    ends.push({ isSame, old: oldEnd, live: liveEnd });
  }
  return ends.map((end, at) => ({
    isSame: end.isSame,
    old: old.slice(ends[at - 1]?.old ?? 0, end.old),
    live: live.slice(ends[at - 1]?.live ?? 0, end.live),
  }));
}

/** Pairs rows that say the same in different stretches: the k-th of a text with the k-th. */
function pairMoved<T>(stretches: readonly Stretch<T>[], textOf: (row: T) => string): ReadonlyMap<T, T> {
  const differing = stretches.filter(({ isSame }) => !isSame);
  const lastFirst = differing.flatMap(({ live }) => live).reverse();
  const byText = groupRows(lastFirst, textOf);
  const moved = new Map<T, T>();
  for (const row of differing.flatMap(({ old }) => old)) {
    const counterpart = byText.get(textOf(row))?.pop();
    if (counterpart !== undefined) moved.set(row, counterpart);
  }
  return moved;
}

/** A difference in the rows of one document. */
export type RowDifference = Omit<CopyDifference, "document_id">;

type Positioned = Pick<RowDifference, "id" | "position">;

/** A difference of a row of the run; of one that is only at the service, the id and position there. */
function differenceOf(level: "chunk" | "child_chunk", { id, position }: Positioned, reason: string): RowDifference {
  return { level, id, position, reason };
}

/** `it differs in text and state`: at most one difference for one row, whatever of it differs. */
function flawsOf(
  level: "chunk" | "child_chunk",
  row: Positioned,
  flaws: readonly (string | false)[],
): readonly RowDifference[] {
  const found = flaws.filter((flaw) => flaw !== false);
  return found.length > 0 ? [differenceOf(level, row, `it differs in ${found.join(" and ")}`)] : [];
}
