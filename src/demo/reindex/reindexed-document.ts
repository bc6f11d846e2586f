import { hash } from "node:crypto";
import type { StoredChunk, StoredDocument } from "../index-knowledge.js";
import type { ChildChunk } from "../knowledge.js";
import { sumOf } from "../sample/build-document.js";
import { stableId } from "../sample/stable-id.js";
import type { DocumentDetails } from "../store/new-document.js";
import type { Source } from "./source.js";

/** Which indexing of a document this is, from 1, when it began in Unix seconds, and how many seconds it takes. */
interface Generation {
  readonly generation: number;
  readonly startedAt: number;
  readonly seconds: number;
}

/**
 * The document as it is made anew from its source: the same id, and every chunk another one with an id of its own, counted
 * from 1 and never hit. People's work is lost: their chunks, their edits, what they switched off, and the child chunks that
 * they made or changed. Ids are always the same for the same generation.
 */
export function reindexedDocument(
  document: StoredDocument,
  source: Source,
  { generation, startedAt, seconds }: Generation,
): StoredDocument {
  const chunks = source.map((piece, index) => {
    const id = stableId(`${document.row.id}/reindexed ${generation}/${index + 1}`);
    return chunkOf(piece, { id, position: index + 1, startedAt }, document.embedsChildren ?? false);
  });
  const rows = chunks.map(({ row }) => row);
  const counts = { tokens: sumOf(rows, "tokens"), word_count: sumOf(rows, "word_count"), hit_count: 0 };
  const state = { indexing_status: "completed", error: null, display_status: "available" };
  const times = { updated_at: startedAt, completed_at: Math.floor(startedAt + seconds), indexing_latency: seconds };
  return { ...withDetails(document, times), row: { ...document.row, ...counts, ...state }, chunks };
}

/** The document with other details, if its details are known. */
export function withDetails(document: StoredDocument, details: Partial<DocumentDetails>): StoredDocument {
  return document.details ? { ...document, details: { ...document.details, ...details } } : document;
}

interface Place {
  readonly id: string;
  readonly position: number;
  readonly startedAt: number;
}

function chunkOf(piece: StoredChunk, { id, position, startedAt }: Place, embedsChildren: boolean): StoredChunk {
  const { row } = piece;
  const children = piece.children.map((child, index) =>
    childOf(child, id, { id: stableId(`${id}/${index + 1}`), position: index + 1, startedAt }),
  );
  const fresh = {
    index_node_id: stableId(`${id}/node`),
    index_node_hash: hash("sha256", row.content),
    hit_count: 0,
    ...{ enabled: true, disabled_at: null, disabled_by: null },
    ...{ created_at: startedAt, updated_at: startedAt, updated_by: null },
    ...{ indexing_at: startedAt, completed_at: startedAt, error: null, stopped_at: null },
    child_chunks: embedsChildren ? children : [],
  };
  const known = Object.entries(fresh).filter(([field]) => field in row); // older servers have fewer
  return { row: { ...row, ...Object.fromEntries(known), id, position, status: "completed" }, children };
}

function childOf(child: ChildChunk, segmentId: string, { id, position, startedAt }: Place): ChildChunk {
  return { ...child, id, segment_id: segmentId, position, created_at: startedAt, updated_at: startedAt };
}
