import { existsSync, readFileSync } from "node:fs";
import type { Kind } from "../../../src/normalise/columns.js";
import type { DocumentRow } from "../../../src/normalise/document-row.js";
import { documentName } from "../../../src/run/discovery.js";
import { partPath } from "../../../src/run/document-parts.js";
import { markName } from "../body.js";
import { type Fingerprint, fingerprintOf } from "../history.js";
import type { ListName } from "../list-name.js";
import type { Outcome } from "../outcome.js";
import { grouped } from "./grouped.js";

/** A row as it is stored. */
export interface StoredRow {
  readonly id: string;
  readonly fingerprint: Fingerprint;
  /** The moment of the answer that it came with; undefined where nothing was ever edited. */
  readonly moment: number | undefined;
}

/** A list of a document as it is stored. */
export interface StoredList {
  readonly name: ListName;
  readonly rows: readonly StoredRow[];
}

/** What there is of one document when the simulation is over. */
export interface Evidence {
  readonly outcome: Outcome;
  readonly index: number;
  readonly row: DocumentRow;
  readonly chunks: StoredList;
  /** For every chunk that is stored, also where there are none; none for jobs without children, few where `auto` skips them. */
  readonly children: readonly StoredList[];
  /** Rows of child chunks whose parent is not stored. */
  readonly orphans: number;
  readonly lines: Readonly<Record<"chunks" | "child_chunks", number>>;
  /** The first and the last moment at which the document was read. */
  readonly first: number;
  readonly last: number;
}

export function evidenceOf(outcome: Outcome, row: DocumentRow, index: number): Evidence {
  const document = row.document_id;
  const calls = outcome.calls.ofDocument(document);
  const chunkRows = linesOf(outcome, index, "chunks", row.chunk_count);
  const childRows = linesOf(outcome, index, "child_chunks", row.child_chunk_count);
  const ids = new Set(chunkRows.map(({ id }) => String(id)));
  const byParent = grouped(childRows, (child) => String(child.segment_id));
  const withChildren = outcome.scenario.job.childChunks === "none" ? [] : answeredFor(outcome, index, [...ids]);
  return {
    outcome,
    index,
    row,
    chunks: { name: { document, chunk: undefined }, rows: chunkRows.map(storedRow) },
    children: withChildren.map((chunk) => ({
      name: { document, chunk },
      rows: (byParent.get(chunk) ?? []).map(storedRow),
    })),
    orphans: childRows.filter(({ segment_id }) => !ids.has(String(segment_id))).length,
    lines: { chunks: chunkRows.length, child_chunks: childRows.length },
    first: Math.min(...calls.map(({ from }) => from)),
    last: Math.max(...calls.map(({ from, answered = from }) => answered)),
  };
}

/** The chunks of whose children the run vouches: all of them, but for those that `auto` skipped outside of its sample. */
function answeredFor(outcome: Outcome, index: number, ids: readonly string[]): readonly string[] {
  const skipped = outcome.through?.reading.documents[index]?.childLists?.skipped ?? 0;
  if (skipped === 0) return ids;
  return [0, 1, 2, 3, 4].flatMap((nth) => ids[Math.round((nth * (ids.length - 1)) / 4)] ?? []);
}

type Line = Readonly<Record<string, unknown>>;

/** As the files of a run are made: what lies there of a document without rows is not looked at. */
function linesOf({ parts }: Outcome, index: number, kind: Kind, count: number): readonly Line[] {
  const path = partPath(parts, documentName(index), kind, "jsonl");
  if (count === 0 || !existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").split("\n").slice(0, -1);
  return lines.map((line): Line => JSON.parse(line));
}

function storedRow(line: Line): StoredRow {
  const { extra } = line;
  const mark: unknown = typeof extra === "object" && extra !== null ? Reflect.get(extra, markName) : undefined;
  return { id: String(line.id), fingerprint: fingerprintOf(line), moment: typeof mark === "number" ? mark : undefined };
}
