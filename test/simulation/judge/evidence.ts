import { readFileSync } from "node:fs";
import type { Kind } from "../../../src/rows/columns.js";
import type { DocumentRow } from "../../../src/rows/row.js";
import type { Proof } from "../../../src/segments/document-result.js";
import type { Call } from "../calls.js";
import type { Outcome } from "../outcome.js";
import type { DocumentShape } from "../scenario.js";
import { isMoving } from "../scenario-facts.js";
import { markName } from "../service/body.js";
import { type Fingerprint, fingerprintOf, type ListState } from "../service/history.js";
import type { ListName } from "../service/list-name.js";
import { grouped } from "./grouped.js";

/** A row in the files of the run. */
export interface StoredRow {
  readonly id: string;
  readonly fingerprint: Fingerprint;
  /** When the service sent it: the moment of that answer, a count of answers and edits. Undefined if the scenario has no edits. */
  readonly moment: number | undefined;
}

/** A list of a document, as the files of the run have it. */
export interface StoredList {
  readonly name: ListName;
  readonly rows: readonly StoredRow[];
}

/** All facts about one document at the end of the simulation. */
export interface Evidence {
  readonly outcome: Outcome;
  readonly index: number;
  readonly row: DocumentRow;
  readonly shape: DocumentShape;
  /** The proof of completeness that the run reports. */
  readonly claim: Proof;
  /** Whether an earlier process read some of its rows. */
  readonly isContinued: boolean;
  readonly chunks: StoredList;
  /** A list for every stored chunk, even if empty. Jobs without child chunks have none, and `auto` may skip some. */
  readonly children: readonly StoredList[];
  /** Rows of child chunks whose parent is not stored. */
  readonly orphans: number;
  readonly lines: Readonly<Record<"chunks" | "child_chunks", number>>;
  /** The moments at which the document was first and last read. Moments count the answers and edits of the service. */
  readonly first: number;
  readonly last: number;
  /** The moment of the service's last answer in the simulation. */
  readonly end: number;
  /** The moment of the answer with the first stored rows, where the accepted reading starts. */
  readonly begin: number;
}

export function evidenceOf(outcome: Outcome, row: DocumentRow, index: number): Evidence {
  const document = row.document_id;
  const calls = outcome.calls.ofDocument(document);
  const chunkRows = linesOf(outcome, index, "chunks", row.chunk_count);
  const childRows = linesOf(outcome, index, "child_chunks", row.child_chunk_count);
  const ids = new Set(chunkRows.map(({ id }) => String(id)));
  const byParent = grouped(childRows, (child) => String(child.segment_id));
  const chunks = chunkRows.map(storedRow);
  const first = Math.min(...calls.map(({ from }) => from));
  const shape = outcome.service.knowledge.shapes.get(document);
  const claim = outcome.through?.reading.documents[index]?.proof;
  if (!shape || !claim) throw new Error(`${document} is no document of the simulation`);
  const withChildren = outcome.scenario.job.childChunks === "none" ? [] : answeredFor(outcome, index, [...ids]);
  return {
    outcome,
    index,
    row,
    shape,
    claim,
    isContinued: isContinued(chunks, calls),
    chunks: { name: { document, chunk: undefined }, rows: chunks },
    children: withChildren.map((chunk) => ({
      name: { document, chunk },
      rows: (byParent.get(chunk) ?? []).map(storedRow),
    })),
    orphans: childRows.filter(({ segment_id }) => !ids.has(String(segment_id))).length,
    lines: { chunks: chunkRows.length, child_chunks: childRows.length },
    first,
    last: Math.max(...calls.map(({ from, answered = from }) => answered)),
    end: Math.max(...calls.map(({ seen }) => seen)),
    begin: Math.min(Number.POSITIVE_INFINITY, ...chunks.map(({ moment = first }) => moment)),
  };
}

function isContinued(chunks: readonly StoredRow[], calls: readonly Call[]): boolean {
  const moments = new Set(chunks.map(({ moment }) => moment));
  const lives = calls.filter(({ answered }) => answered !== undefined && moments.has(answered)).map(({ life }) => life);
  return Math.min(...lives) < Math.max(...calls.map(({ life }) => life));
}

/** How many rows the service puts on a page of a list. */
export function pageSizeOf({ scenario }: Outcome): number {
  const { paging, pageCap = 100 } = scenario.service;
  return paging === "ignored" ? Number.POSITIVE_INFINITY : Math.min(100, pageCap);
}

/** Whether all rows came in one answer. Without edits, rows have no moments; then whether they fit on one page. */
export function isOneAnswer({ outcome }: Pick<Evidence, "outcome">, { rows }: StoredList): boolean {
  if (rows.length === 100) return false; // a list that fills one page takes another request, because more rows may follow
  if (!isMoving(outcome.scenario)) return rows.length <= pageSizeOf(outcome);
  return rows.every(({ moment }) => moment === rows[0]?.moment);
}

/**
 * Whether the stored children of a chunk equal those embedded in the page of chunks. Then they are from the moment of that answer,
 * regardless of how many answers their own list took.
 */
export function isCovered({ outcome, shape, chunks }: Evidence, list: StoredList): boolean {
  if (!shape.embeds || shape.form !== "hierarchical_model" || list.name.chunk === undefined) return false;
  const moment = chunks.rows.find(({ id }) => id === list.name.chunk)?.moment ?? 0;
  return differenceOf(list, outcome.service.history.at(list.name, moment)) === undefined;
}

/** Describes how a stored list differs from the expected state; undefined if it does not. */
export function differenceOf({ rows }: StoredList, state: ListState | undefined): string | undefined {
  if (!state) return "there was no such list";
  const strange = rows.find(({ id, fingerprint }) => state.get(id) !== fingerprint);
  if (strange) return `${strange.id} was another, or not there`;
  return state.size === rows.length ? undefined : `${state.size - rows.length} rows are missing`;
}

/** The chunks whose child chunks the run vouches for: all, except those that `auto` skipped outside its sample. */
function answeredFor(outcome: Outcome, index: number, ids: readonly string[]): readonly string[] {
  const skipped = outcome.through?.reading.documents[index]?.childLists?.skipped ?? 0;
  if (skipped === 0) return ids;
  return [0, 1, 2, 3, 4].flatMap((nth) => ids[Math.round((nth * (ids.length - 1)) / 4)] ?? []);
}

type Line = Readonly<Record<string, unknown>>;

/** Reads the lines of a document like a run does. If the document has no rows, its file is ignored. */
function linesOf(outcome: Outcome, index: number, kind: Kind, count: number): readonly Line[] {
  const files = outcome.through?.reading.documents[index]?.files ?? [];
  const part = files.find((file) => file.kind === kind && file.format === "jsonl");
  if (count === 0 || !part) return [];
  const { path, start = 0, bytes } = part;
  const text = readFileSync(path).toString("utf8", start, start + bytes);
  const lines = text.split("\n").slice(0, -1);
  return lines.map((line): Line => JSON.parse(line));
}

function storedRow(line: Line): StoredRow {
  const { extra } = line;
  const mark: unknown = typeof extra === "object" && extra !== null ? Reflect.get(extra, markName) : undefined;
  return { id: String(line.id), fingerprint: fingerprintOf(line), moment: typeof mark === "number" ? mark : undefined };
}
