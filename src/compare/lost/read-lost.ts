import type { Connection } from "../../duckdb/open-duckdb.js";
import { sqlText } from "../../duckdb/sql.js";
import { loadList } from "../../dump/load.js";
import { documentKey } from "../../rows/row.js";
import type { ComparedRuns } from "../compare-runs.js";
import {
  type ChildRow,
  type ChunkRow,
  childFromJson,
  chunkFromJson,
  type DocumentId,
  groupRows,
} from "../document-rows.js";
import { rowColumns, rowJson } from "../load-document-rows.js";
import { findInside, type LostText, type Text } from "./find-inside.js";

/** A chunk of the older run that is lost or has lost child chunks, with all facts for the decision on it. */
export interface LostChunk {
  readonly old: ChunkRow;
  /** Which parts of the chunk are lost; all false if only child chunks were lost. */
  readonly lost: { readonly text: boolean; readonly keywords: boolean; readonly disabled: boolean };
  /** The evidence of a person's work on it; null without evidence. */
  readonly manual_edit: "edited" | "added" | "disabled" | null;
  /** Whether it was created after the indexing of its document was completed. */
  readonly isLate: boolean;
  /** Whether the history has the text before the edit, or shows that the chunk was added. */
  readonly isInHistory: boolean;
  /** Whether a person had disabled it. */
  readonly isDisabled: boolean;
  /** The keywords before a person edited them; null if they were not edited. */
  readonly keywordsBefore: readonly string[] | null;
  /** The chunk of the newer run that has its id or its text. */
  readonly pair: ChunkRow | null;
  /**
   * The chunk of the newer run that stands for the text before the edit, so that a restore overwrites it; found by that text in the
   * history, or between the same neighbours.
   */
  readonly base: ChunkRow | null;
  readonly byNeighbours: boolean;
  /** The chunk of the newer run between the neighbours of the lost chunk. */
  readonly place: ChunkRow | null;
  /** The id of the chunk of the newer run that a restore wrote for the lost chunk, if that has another text by now. */
  readonly writtenAs: string | null;
  /** How many chunks of the newer run have the text of the lost chunk. */
  readonly equal: number;
  /** Whether its text occurs inside a chunk of the newer run: see `findInside`. */
  readonly isInside: boolean;
}

/** The child chunks of a chunk of the older run; at least one is lost. */
export interface LostFamily {
  /** Ids of the lost child chunks to decide on. */
  readonly lost: ReadonlySet<string>;
  readonly olds: readonly ChildRow[];
  /** By child chunk id: the content before an edit, if the history has it. */
  readonly before: ReadonlyMap<string, string>;
  /** By the id of a lost child chunk: the automatic child chunk of the newer run between the same neighbours. */
  readonly twins: ReadonlyMap<string, string>;
  /** By the id of a lost child chunk: the id of the one that a restore wrote for it, if that has another text by now. */
  readonly writtenAs: ReadonlyMap<string, string>;
}

/** A document of the older run. */
interface LostDocument extends DocumentId {
  readonly doc_form: string | null;
}

/** The lost rows of a document that a person worked on or the owner chose. */
export interface LostRows {
  /** In the order of the older run. */
  readonly chunks: readonly LostChunk[];
  /** By the id of the chunk in the older run. */
  readonly families: ReadonlyMap<string, LostFamily>;
  /** The child chunks of a chunk of the newer run. */
  readonly childrenNow: (chunk: string) => readonly ChildRow[];
}

/**
 * Loads lost rows with manual edits, and the rows now in their place, with all their texts; other rows are loaded without texts. `chosen`:
 * ids of further lost rows to load. The returned function reads several documents at once, by `documentKey`.
 */
export async function loadLostRows(
  connection: Connection,
  { sources: [old, fresh] }: ComparedRuns,
  chosen: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<(documents: readonly LostDocument[]) => Promise<ReadonlyMap<string, LostRows>>> {
  const chosenRows = [...chosen].map((id) => ({ id }));
  await loadList(connection, "chosen_rows", chosenRows, { id: "VARCHAR" });
  const wholeSql = (side: "old" | "new", kind: "chunks" | "child_chunks") => {
    const key = kind === "chunks" ? "id" : "segment_id";
    return `CREATE TABLE ${side}_${kind}_whole AS SELECT DISTINCT ON (${ids}, ${key}, id) ${rowColumns(kind)}
      FROM ${(side === "old" ? old : fresh)[kind].sql} SEMI JOIN wanted_${side}_${kind} USING (${ids}, ${key})`;
  };
  for (const sql of [
    ...planTables,
    wholeSql("old", "chunks"),
    wholeSql("new", "chunks"),
    wholeSql("old", "child_chunks"),
    wholeSql("new", "child_chunks"),
    insideTexts,
    // Keep the joins in the written order: with all chunks of a document on the side that DuckDB keeps in memory, memory would run out.
    "SET disabled_optimizers = 'join_order,build_side_probe_side'",
    insideSql("old", old.chunks.sql),
    insideSql("new", fresh.chunks.sql),
    "RESET disabled_optimizers",
  ]) {
    signal.throwIfAborted();
    await connection.run(sql);
  }
  return (documents) => readLost(connection, documents);
}

const ids = "dataset_id, document_id";
const sameDocument = (one: string, other: string) =>
  `${one}.dataset_id = ${other}.dataset_id AND ${one}.document_id = ${other}.document_id`;

const planTables: readonly string[] = [
  `CREATE TABLE plan_children AS SELECT c.dataset_id, c.document_id, c.segment_id, c.id, n.id AS twin_id, h.id AS written_as
    FROM losses l JOIN old_child_chunks c ON c.rowid = l.row
    LEFT JOIN child_places g ON g.row = c.rowid LEFT JOIN new_child_chunks n ON n.rowid = g.place
    LEFT JOIN edited_since_child_chunks h ON h.row = c.rowid
    WHERE level = 'child_chunk' AND (manual_edit IS NOT NULL OR c.id IN (FROM chosen_rows))`,
  `CREATE TABLE plan_chunks AS
    WITH wanted AS (
      SELECT l.row FROM losses l JOIN old_chunks c ON c.rowid = l.row
      WHERE level = 'chunk' AND (manual_edit IS NOT NULL OR c.id IN (FROM chosen_rows))
      UNION SELECT min(c.rowid) FROM old_chunks c
      SEMI JOIN plan_children p ON ${sameDocument("p", "c")} AND p.segment_id = c.id GROUP BY c.dataset_id, c.document_id, c.id
    )
    SELECT c.dataset_id, c.document_id, c.id AS old_id, m.matched_by, coalesce(k.by_neighbours, false) AS by_neighbours,
      n.id AS pair_id, p.id AS place_id, coalesce(q.equal, 0) AS equal,
      coalesce(l.text_lost, false) AS text_lost, coalesce(l.keywords_lost, false) AS keywords_lost,
      coalesce(l.enabled_again, false) AS enabled_again, l.manual_edit, coalesce(e.is_late, false) AS is_late,
      coalesce(e.origin = 'edited' OR e.has_new_keywords OR (e.origin = 'added' AND NOT e.is_late), false) AS in_history,
      h.id AS written_as, coalesce(e.is_disabled, false) AS is_disabled, coalesce(e.has_new_keywords, false) AS has_new_keywords
    FROM wanted w JOIN old_chunks c ON c.rowid = w.row JOIN matched_chunks m ON m.before_row = c.rowid
    LEFT JOIN new_chunks n ON n.rowid = m.after_row AND m.matched_by <> 'position'
    LEFT JOIN known_places k ON k.before_row = c.rowid
    LEFT JOIN places g ON g.row = c.rowid LEFT JOIN new_chunks p ON p.rowid = g.place
    LEFT JOIN edited_since_chunks h ON h.row = c.rowid
    LEFT JOIN (SELECT ${ids}, fingerprint, count(*)::INTEGER AS equal FROM new_chunks
      WHERE fingerprint IN (SELECT fingerprint FROM old_chunks o JOIN wanted x ON x.row = o.rowid) GROUP BY ALL) q
      ON ${sameDocument("q", "c")} AND q.fingerprint = c.fingerprint
    LEFT JOIN losses l ON l.level = 'chunk' AND l.row = c.rowid
    LEFT JOIN manual_chunks e ON e.row = c.rowid`,
  `CREATE TABLE wanted_old_chunks AS SELECT DISTINCT ${ids}, old_id AS id FROM plan_chunks`,
  `CREATE TABLE wanted_new_chunks AS SELECT DISTINCT ${ids}, unnest([pair_id, place_id]) AS id FROM plan_chunks`,
  `CREATE TABLE wanted_old_child_chunks AS SELECT DISTINCT ${ids}, segment_id FROM plan_children`,
  `CREATE TABLE wanted_new_child_chunks AS SELECT DISTINCT ${ids}, unnest([pair_id, place_id]) AS segment_id FROM plan_chunks c
    SEMI JOIN plan_children p ON ${sameDocument("p", "c")} AND p.segment_id = c.old_id`,
];

/** SQL: the lost texts that people wrote and that have no known place in the newer run. They may occur inside a chunk. */
const insideTexts = `CREATE TABLE inside_texts AS SELECT p.dataset_id, p.document_id, o.id, o.content, o.answer
  FROM plan_chunks p JOIN old_chunks_whole o ON ${sameDocument("o", "p")} AND o.id = p.old_id
  WHERE text_lost AND manual_edit IS NOT NULL AND matched_by IS DISTINCT FROM 'known' AND o.content <> ''`;

/** SQL: counts how often these texts occur inside chunks of one side. */
function insideSql(side: "old" | "new", rows: string): string {
  const leftOut =
    side === "old"
      ? `SELECT ${ids}, old_id AS id FROM plan_chunks WHERE text_lost AND manual_edit IS NOT NULL`
      : `SELECT ${ids}, pair_id AS id FROM plan_chunks WHERE matched_by = 'known'`;
  return `CREATE TABLE inside_${side} AS
    SELECT w.dataset_id, w.document_id, w.id,
      sum((length(s.content) - length(replace(s.content, w.content, ''))) // length(w.content))::INTEGER AS times
    FROM (SELECT ${ids}, id, content, answer FROM ${rows} SEMI JOIN inside_texts USING (${ids}) ANTI JOIN (${leftOut}) USING (${ids}, id)) s
    JOIN inside_texts w ON ${sameDocument("s", "w")} AND strlen(s.content) >= strlen(w.content) AND contains(s.content, w.content)
      AND contains(coalesce(s.answer, ''), coalesce(w.answer, ''))
    GROUP BY ALL`;
}

/** A row of `plan_chunks` with its facts from the history and `inside_texts`. */
interface PlanChunk {
  readonly old_id: string;
  readonly matched_by: string | null;
  readonly by_neighbours: boolean;
  readonly pair_id: string | null;
  readonly place_id: string | null;
  readonly equal: number;
  readonly text_lost: boolean;
  readonly keywords_lost: boolean;
  readonly enabled_again: boolean;
  readonly manual_edit: LostChunk["manual_edit"];
  readonly is_late: boolean;
  readonly in_history: boolean;
  readonly written_as: string | null;
  readonly is_disabled: boolean;
  readonly has_new_keywords: boolean;
  readonly had: readonly string[] | null;
  readonly content: string | null;
  readonly answer: string | null;
  readonly keywords: readonly string[] | null;
  readonly times_now: number | null;
  readonly times_before: number | null;
}

/** The rows of a document as JSON texts, because the client strips a byte order mark from plain texts. */
type TextsOf = (document: DocumentId) => readonly string[];

/** Reads the losses of some documents, by `documentKey`. One statement covers all of them: it takes hardly longer than for one document. */
async function readLost(
  connection: Connection,
  documents: readonly LostDocument[],
): Promise<ReadonlyMap<string, LostRows>> {
  if (documents.length === 0) return new Map();
  const keys = documents.map((document) => `(${sqlText(document.dataset_id)}, ${sqlText(document.document_id)})`);
  const read = async (from: string, json: string): Promise<TextsOf> => {
    const found = await connection.runAndReadAll(
      `SELECT t.dataset_id, t.document_id, ${json} FROM ${from} WHERE (t.dataset_id, t.document_id) IN (VALUES ${keys.join(", ")})`,
    );
    const keyOf = ([dataset_id, document_id]: readonly unknown[]) => documentKey({ dataset_id, document_id });
    const groups = groupRows(found.getRowsJson(), keyOf);
    return (document) => (groups.get(documentKey(document)) ?? []).map(([, , text]) => String(text));
  };
  const edited = (kind: string, id: string) =>
    `LEFT JOIN edited_${kind} e ON ${sameDocument("e", "t")} AND e.id = t.${id}`;
  const inside = (side: string) =>
    `LEFT JOIN inside_${side} ${side}s ON ${sameDocument(`${side}s`, "t")} AND ${side}s.id = t.old_id`;
  const texts = {
    plans: await read(`plan_chunks t ${edited("chunks", "old_id")} ${inside("new")} ${inside("old")}`, planJson),
    children: await read(`plan_children t ${edited("child_chunks", "id")}`, childJson),
    olds: await read("old_chunks_whole t", rowJson("chunks")),
    news: await read("new_chunks_whole t", rowJson("chunks")),
    oldChildren: await read("old_child_chunks_whole t", rowJson("child_chunks")),
    newChildren: await read("new_child_chunks_whole t", rowJson("child_chunks")),
  };
  return new Map(documents.map((document) => [documentKey(document), lostRowsOf(document, texts)]));
}

function lostRowsOf(
  document: LostDocument,
  texts: Readonly<Record<"plans" | "children" | "olds" | "news" | "oldChildren" | "newChildren", TextsOf>>,
): LostRows {
  const chunkOf = (text: string) => withAnswer(chunkFromJson(text), document.doc_form);
  const [oldOf, newOf] = [byId(texts.olds(document).map(chunkOf)), byId(texts.news(document).map(chunkOf))];
  const plans: readonly PlanChunk[] = texts.plans(document).map((text) => JSON.parse(text));
  const found = plans.flatMap((plan) => {
    const old = oldOf.get(plan.old_id);
    return old ? [{ plan, old }] : [];
  });
  const known = inOrder(found, ({ old }) => old);
  const inside = findInside(known.flatMap(lostTexts), known.flatMap(replacedTexts));
  const rowOf = (id: string | null) => (id === null ? null : (newOf.get(id) ?? null));
  const now = groupRows(texts.newChildren(document).map(childFromJson), ({ segment_id }) => segment_id);
  return {
    chunks: known.map(({ plan, old }) => lostChunk(plan, old, rowOf, inside)),
    families: familiesOf(
      texts.children(document).map((text) => JSON.parse(text)),
      texts.oldChildren(document).map(childFromJson),
    ),
    childrenNow: (chunk) => now.get(chunk) ?? [],
  };
}

const planNames = [
  ...["old_id", "matched_by", "by_neighbours", "pair_id", "place_id", "equal", "text_lost", "keywords_lost"],
  ...["enabled_again", "manual_edit", "is_late", "in_history", "written_as", "is_disabled", "has_new_keywords"],
];
const planJson = jsonSql([
  ...planNames.map((name) => [name, `t.${name}`] as const),
  ...["had", "content", "answer", "keywords"].map((name) => [name, `e.${name}`] as const),
  ["times_now", "news.times"],
  ["times_before", "olds.times"],
]);
const childJson = jsonSql([
  ...["id", "segment_id", "twin_id", "written_as"].map((name) => [name, `t.${name}`] as const),
  ["before", "e.content"],
  ["is_edited", "e.id IS NOT NULL"],
]);

/** SQL: an object as JSON text. */
function jsonSql(members: readonly (readonly [name: string, value: string])[]): string {
  return `to_json({${members.map(([name, value]) => `'${name}': ${value}`).join(", ")}})::VARCHAR`;
}

/** Sets the answer to null in documents that have no answers. */
function withAnswer(chunk: ChunkRow, form: string | null): ChunkRow {
  if (form === "qa_model") return { ...chunk, answer: chunk.answer ?? "" };
  return { ...chunk, answer: form === null ? chunk.answer || null : null };
}

function byId<Row extends { readonly id: string }>(rows: readonly Row[]): ReadonlyMap<string, Row> {
  return new Map(rows.map((row) => [row.id, row]));
}

interface KnownPlan {
  readonly plan: PlanChunk;
  readonly old: ChunkRow;
}

function lostTexts({ plan, old }: KnownPlan): readonly LostText[] {
  if (!plan.text_lost || plan.manual_edit === null || plan.matched_by === "known") return [];
  return [{ ...old, now: plan.times_now ?? 0, before: plan.times_before ?? 0 }];
}

function replacedTexts({ plan, old }: KnownPlan): readonly Text[] {
  const had = (name: string) => plan.had?.includes(name) === true;
  if (!plan.text_lost || plan.matched_by === "known" || (!had("content") && !had("answer"))) return [];
  const content = had("content") ? (plan.content ?? "") : old.content;
  return [{ content, answer: had("answer") ? plan.answer : old.answer }];
}

function lostChunk(
  plan: PlanChunk,
  old: ChunkRow,
  rowOf: (id: string | null) => ChunkRow | null,
  inside: ReadonlySet<string>,
): LostChunk {
  const isKnown = plan.matched_by === "known";
  return {
    old,
    lost: { text: plan.text_lost, keywords: plan.keywords_lost, disabled: plan.enabled_again },
    manual_edit: plan.manual_edit,
    isLate: plan.is_late,
    isInHistory: plan.in_history,
    isDisabled: plan.is_disabled,
    keywordsBefore: plan.has_new_keywords ? (plan.keywords ?? []) : null,
    pair: isKnown ? null : rowOf(plan.pair_id),
    base: isKnown ? rowOf(plan.pair_id) : null,
    byNeighbours: plan.by_neighbours,
    place: rowOf(plan.place_id),
    writtenAs: plan.written_as,
    equal: plan.equal,
    isInside: inside.has(old.id),
  };
}

interface PlanChild {
  readonly id: string;
  readonly segment_id: string;
  readonly twin_id: string | null;
  readonly written_as: string | null;
  readonly before: string | null;
  readonly is_edited: boolean;
}

function familiesOf(plans: readonly PlanChild[], olds: readonly ChildRow[]): ReadonlyMap<string, LostFamily> {
  const rowsOf = groupRows(olds, ({ segment_id }) => segment_id);
  const plansOf = groupRows(plans, ({ segment_id }) => segment_id);
  return new Map(
    [...plansOf].map(([chunk, lost]) => [
      chunk,
      {
        lost: new Set(lost.map(({ id }) => id)),
        olds: inOrder(rowsOf.get(chunk) ?? [], (row) => row),
        before: new Map(lost.flatMap(({ id, before, is_edited }) => (is_edited ? [[id, before ?? ""] as const] : []))),
        twins: new Map(lost.flatMap(({ id, twin_id }) => (twin_id === null ? [] : [[id, twin_id] as const]))),
        writtenAs: new Map(
          lost.flatMap(({ id, written_as }) => (written_as === null ? [] : [[id, written_as] as const])),
        ),
      },
    ]),
  );
}

/** Sorts rows by position, which may be equal or missing, then by id. */
export function inOrder<T>(
  all: readonly T[],
  rowOf: (each: T) => { readonly id: string; readonly position: number | null },
): readonly T[] {
  const place = (each: T) => rowOf(each).position ?? Number.POSITIVE_INFINITY;
  return all.toSorted((one, other) =>
    place(one) === place(other) ? (rowOf(one).id < rowOf(other).id ? -1 : 1) : place(one) - place(other),
  );
}
