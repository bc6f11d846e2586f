import { join } from "node:path";
import type { ChunkChange, RunDiff } from "../../../src/compare/diff-result.js";
import { diffRuns } from "../../../src/compare/diff-runs.js";
import type { DiffOptions } from "../../../src/compare/runs-to-compare.js";
import type { Row } from "../../../src/rows/row.js";
import { plainFolder } from "../../dump/formats/folder.js";
import { noRows, type Tables } from "../../dump/formats/stage.js";
import { document } from "../../verify/sound-tables.js";
import { type WriteOptions, writeDump } from "../../verify/write-dump.js";

/** The tables of complete documents whose row counts match the given rows. */
export function tablesOf(chunks: readonly Row[], children: readonly Row[] = [], more: readonly Row[] = []): Tables {
  const ids = [...new Set(chunks.map(({ document_id }) => String(document_id)))];
  const count = (rows: readonly Row[], id: string) => rows.filter(({ document_id }) => document_id === id).length;
  const documents = ids.map((id) => document(id, count(chunks, id), count(children, id)));
  return { ...noRows, chunks, child_chunks: children, documents: [...documents, ...more] };
}

/** Writes two dumps; returns their folders. */
export async function twoDumps(old: Tables, fresh: Tables, options: readonly [WriteOptions?, WriteOptions?] = []) {
  const base = await plainFolder();
  return [
    await writeDump(join(base, "old"), old, options[0]),
    await writeDump(join(base, "new"), fresh, options[1] ?? options[0]),
  ] as const;
}

/** Compares two folders with `diffRuns`; returns its result and the changes that it reported. */
export async function diffed(
  [old, fresh]: readonly [string, string],
  options: DiffOptions = {},
): Promise<{ readonly diff: RunDiff; readonly changes: readonly ChunkChange[] }> {
  const changes: ChunkChange[] = [];
  const diff = await diffRuns(old, fresh, { ...options, onChange: (change) => void changes.push(change) });
  return { diff, changes };
}

/** A short description of a change: `changed chunk a1 → a1: fields`. */
export function described({ kind, level, old_id, new_id, fields, lost, manual_edit }: ChunkChange): string {
  const remarks = [lost && "lost", manual_edit, ...fields].filter(Boolean);
  return `${kind} ${level} ${old_id} → ${new_id}${remarks.length > 0 ? `: ${remarks.join(" ")}` : ""}`;
}
