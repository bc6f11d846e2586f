import type { ChunkRecord } from "../../servers/json.js";
import { integer, type Random } from "../../servers/random.js";
import type { TestDocument } from "../../servers/store.js";
import type { EditKind } from "../scenario.js";
import { editChildren, isChildEdit } from "./edit-children.js";
import type { History } from "./history.js";
import { editedId } from "./ids.js";
import { childOf, chunkOf, positionOf, sortChunks } from "./knowledge.js";

/** One edit of a document. */
export interface Edit {
  readonly kind: EditKind;
  readonly document: TestDocument;
  /** Unique in a simulation. New rows get their ids from it. */
  readonly number: number;
  readonly random: Random;
  readonly history: History;
  /** The service's time, in Unix seconds. */
  readonly now: number;
}

/**
 * Edits a document, and sorts its chunks as the service does. A deleted row never comes back, except in an undo, because a service
 * gives new rows random UUIDs.
 */
export function applyEdit(edit: Edit): void {
  const { document, kind } = edit;
  finishIndexing(document);
  if (isChildEdit(kind)) editChildren(edit, kind);
  else editChunks(edit);
  sortChunks(document);
}

function editChunks(edit: Edit): void {
  const { document, random } = edit;
  const { chunks } = document;
  const anywhere = () => integer(random, 0, Math.max(0, chunks.length - 1));
  switch (edit.kind) {
    case "delete":
      remove(document, anywhere(), integer(random, 1, 3));
      return;
    case "append":
      for (let nth = 0, count = integer(random, 1, 2); nth < count; nth++) add(edit, greatest(chunks) + 1, nth);
      return;
    case "append at once": // two concurrent requests get the same position
      add(edit, Math.max(1, greatest(chunks)));
      return;
    case "insert":
      add(edit, chunks.length > 0 ? positionOf(chunks[anywhere()] as ChunkRecord) : 1);
      return;
    case "replace":
      remove(document, anywhere(), 1);
      add(edit, greatest(chunks) + 1);
      return;
    case "trade":
      tradePlaces(chunks, anywhere(), anywhere());
      return;
    case "content":
    case "answer":
      change(edit, anywhere(), { [edit.kind]: `edit ${edit.number}` });
      return;
    case "content back":
      change(edit, anywhere(), { content: random() < 0.5 ? "one" : "other" });
      return;
    case "re-index":
      reindex(edit);
      return;
    case "undo":
      undo(edit);
      return;
    default: // edits of the list of documents
  }
}

/** An add that has taken its position but is not stored yet. */
export interface BegunAdd {
  readonly document: TestDocument;
  readonly position: number;
  /** The service's time, in Unix seconds. */
  readonly begunAt: number;
}

/** Stores the row of an add that began earlier. Rows with the same or a greater position may have been added since. */
export function storeBegun({ document, position, begunAt }: BegunAdd, number: number): void {
  const content = `added late ${number}`;
  document.chunks.push(chunkOf(document.id, editedId("chunk", number), position, { content, created_at: begunAt }));
  document.children.set(editedId("chunk", number), []);
  sortChunks(document);
}

/** The greatest position. The service gives the next one to a new chunk. */
export function greatest(chunks: readonly ChunkRecord[]): number {
  return Math.max(0, ...chunks.map(positionOf));
}

function add({ document, number, random, now }: Edit, position: number, nth = 0): void {
  const id = editedId("chunk", number, nth);
  document.chunks.push(chunkOf(document.id, id, position, { content: `added ${number}`, created_at: now }));
  const children = Array.from({ length: integer(random, 0, 2) }, (_, at) =>
    childOf(id, at + 1, editedId("child", number, 100 * (nth + 1) + at)),
  );
  document.children.set(id, children);
}

function remove(document: TestDocument, from: number, count: number): void {
  for (const { id } of document.chunks.splice(from, count)) document.children.delete(id);
}

function tradePlaces(chunks: ChunkRecord[], one: number, other: number): void {
  const [first, second] = [chunks[one], chunks[other]];
  if (!first || !second) return;
  chunks[one] = { ...first, position: positionOf(second) };
  chunks[other] = { ...second, position: positionOf(first) };
}

function change({ document }: Edit, at: number, fields: Readonly<Record<string, string>>): void {
  const chunk = document.chunks[at];
  if (chunk) document.chunks[at] = { ...chunk, ...fields };
}

/** Replaces every chunk with a new one of the same content. Sometimes these are not indexed until the next edit. */
function reindex({ document, number, random, now }: Edit): void {
  const old = document.chunks.map(({ id, content }) => ({ content, children: document.children.get(id) ?? [] }));
  const status = random() < 0.5 ? "indexing" : "completed";
  document.children.clear();
  document.chunks = old.map(({ content, children }, at) => {
    const id = editedId("chunk", number, at);
    const renewed = children.map((child, nth) => ({
      ...child,
      id: editedId("child", number, 1_000 * (at + 1) + nth),
      segment_id: id,
    }));
    document.children.set(id, renewed);
    return chunkOf(document.id, id, at + 1, { content: String(content), status, created_at: now });
  });
}

function finishIndexing(document: TestDocument): void {
  if (!document.chunks.some(({ status }) => status === "indexing")) return;
  document.chunks = document.chunks.map((chunk) => ({ ...chunk, status: "completed" }));
}

/** Restores the state before the last edit. */
function undo({ document, history }: Edit): void {
  const before = history.versionsOf(document.id).at(-2);
  if (!before) return;
  document.chunks = [...before.chunks];
  document.children.clear();
  for (const [chunk, rows] of before.children) document.children.set(chunk, [...rows]);
}
