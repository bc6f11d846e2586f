import { join } from "node:path";
import { type EvidenceOptions, findEditedDocuments } from "../../../src/compare/lost/evidence.js";
import { type LostOptions, type LostPlan, planLost } from "../../../src/compare/lost/plan-lost.js";
import { type Dump, openDump } from "../../../src/dump/open-dump.js";
import type { Row } from "../../../src/rows/row.js";
import { plainFolder } from "../../dump/formats/folder.js";
import { noRows, type Tables } from "../../dump/formats/stage.js";
import * as sound from "../../verify/sound-tables.js";
import { type WriteOptions, writeDump } from "../../verify/write-dump.js";

const made = { enabled: true, status: "completed", created_at: "2025-03-06T01:00:00Z" };
/** A chunk as the indexer makes it. */
export const chunk = (document: string, id: string, position: number, content: string, more: Row = {}) =>
  sound.chunk(document, id, { ...made, position, content, ...more });
export const child = (document: string, segment: string, id: string, content: string, type = "automatic") =>
  sound.child(document, segment, id, { content, type });

/** Tables of documents, each of which has the rows that are given, and may not be complete. */
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

export async function dumpOf(tables: Tables, run_id: string, options: WriteOptions = {}): Promise<Dump> {
  const folder = await writeDump(join(await plainFolder(), "run"), tables, { ...options, manifest: { run_id } });
  return openDump(folder, "nothing was planned");
}

const base = { memory: "200MB", signal: new AbortController().signal, database: undefined };

export function editedDocumentsOf(dump: Dump, options: Partial<EvidenceOptions> = {}) {
  return findEditedDocuments(dump, { ...base, documents: [], chunks: [], ...options });
}

/** The plan for the documents with manual edits, and those that were named. */
export async function lostOf(
  old: Dump,
  target: Dump,
  options: Partial<LostOptions> & { readonly named?: readonly string[] } = {},
): Promise<LostPlan> {
  const { database, named = [] } = options;
  const { documents } = await editedDocumentsOf(old, { database, documents: named });
  const wishes = { chosen: new Set<string>(), addDisabled: false, refusals: new Map() };
  return planLost(old, target, { ...base, ...wishes, documents, ...options });
}
