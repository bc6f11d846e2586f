import { copyFile, mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { type LostOptions, type LostPlan, planLost } from "../../../src/compare/lost/plan-lost.js";
import { type Dump, openDump } from "../../../src/dump/open-dump.js";
import type { Row } from "../../../src/rows/row.js";
import { plainFolder } from "../../dump/formats/folder.js";
import { noRows, type Tables } from "../../dump/formats/stage.js";
import * as sound from "../../verify/sound-tables.js";
import { type WriteOptions, writeDump } from "../../verify/write-dump.js";

const made = { enabled: true, status: "completed", created_at: "2025-03-06T01:00:00Z" };
/** A chunk as the indexer creates it. */
export const chunk = (document: string, id: string, position: number, content: string, more: Row = {}) =>
  sound.chunk(document, id, { ...made, position, content, ...more });
export const child = (document: string, segment: string, id: string, content: string, type = "automatic") =>
  sound.child(document, segment, id, { content, type });

/** The tables of some documents with the given rows; a document may be incomplete. */
export function tablesOf(
  chunks: readonly Row[],
  children: readonly Row[] = [],
  ill: Readonly<Record<string, Row>> = {},
): Tables {
  const count = (rows: readonly Row[], id: string) => rows.filter(({ document_id }) => document_id === id).length;
  const ids = [...new Set(chunks.map(({ document_id }) => String(document_id)))];
  const documents = ids.map((id) => sound.document(id, count(chunks, id), count(children, id), ill[id]));
  return { ...noRows, chunks, child_chunks: children, documents };
}

/** Writes a dump. `database`: the database of its job, stored beside its runs. */
export async function dumpOf(
  tables: Tables,
  run_id: string,
  { database, ...options }: WriteOptions & { readonly database?: string } = {},
): Promise<Dump> {
  const job = await plainFolder();
  const folder = join(job, "runs", run_id);
  await mkdir(join(job, "runs"));
  await rename(await writeDump(join(job, "written"), tables, { ...options, manifest: { run_id } }), folder);
  if (database !== undefined) await copyFile(database, join(job, "test.duckdb"));
  return openDump(folder, "nothing was planned");
}

/** The plan for all documents, or for the named ones. */
export function lostOf(old: Dump, target: Dump, options: Partial<LostOptions> = {}): Promise<LostPlan> {
  const { signal } = new AbortController();
  const wishes = { decisions: undefined, addManualEdits: false, documents: [], refusals: new Map() };
  return planLost(old, target, { memory: "200MB", signal, ...wishes, ...options });
}
