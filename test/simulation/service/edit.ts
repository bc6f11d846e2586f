import { addChunks, deleteChunks, reindex, swapChunks } from "../servers/edits.js";
import { integer, type Random } from "../servers/random.js";
import type { TestDocument } from "../servers/store.js";
import type { History } from "./history.js";
import { childOf } from "./knowledge.js";
import type { EditKind } from "./scenario.js";

/** One edit of a document. */
export interface Edit {
  readonly kind: EditKind;
  readonly document: TestDocument;
  /** Different for every edit of a simulation: what is new is named after it. */
  readonly number: number;
  readonly random: Random;
  readonly history: History;
}

/** Edits a document. Nothing that was there before ever comes again, unless the edit is an undo. */
export function applyEdit(edit: Edit): void {
  const { document, number, random } = edit;
  const index = (length: number) => integer(random, 0, Math.max(0, length - 1));
  const seed = 1_000_000 + number;
  const add = () =>
    addChunks(document, 1, { at: index(document.chunks.length + 1), children: integer(random, 0, 2), seed });
  switch (edit.kind) {
    case "delete":
      deleteChunks(document, index(document.chunks.length), integer(random, 1, 3));
      return;
    case "add":
      add();
      return;
    case "replace":
      if (deleteChunks(document, index(document.chunks.length), 1).length > 0) add();
      return;
    case "swap":
      if (document.chunks.length > 1)
        swapChunks(document, index(document.chunks.length), index(document.chunks.length));
      return;
    case "content":
    case "answer":
      editChunk(edit, edit.kind);
      return;
    case "re-index":
      reindex(document, seed);
      return;
    case "undo":
      undo(edit);
      return;
    case "drop document":
      return; // the service forgets it
    default:
      editChildren(edit, edit.kind);
  }
}

function editChunk({ document, number, random }: Edit, field: "content" | "answer"): void {
  const at = integer(random, 0, document.chunks.length - 1);
  const chunk = document.chunks[at];
  if (chunk) document.chunks[at] = { ...chunk, [field]: `edit ${number}` };
}

type ChildEdit = Extract<EditKind, `${string}child${string}`>;

/** Edits the longest list of children as often as any other: what takes two pages is what can be read half. */
function editChildren({ document, number, random }: Edit, kind: ChildEdit): void {
  const ids = document.chunks.map(({ id }) => id);
  const sizeOf = (id: string | undefined) => document.children.get(id ?? "")?.length ?? 0;
  const longest = ids.reduce((best: string | undefined, id) => (sizeOf(id) > sizeOf(best) ? id : best), ids[0]);
  const chunk = random() < 0.5 ? longest : ids[integer(random, 0, ids.length - 1)];
  if (chunk === undefined) return;
  const children = [...(document.children.get(chunk) ?? [])];
  const at = integer(random, 0, Math.max(0, children.length - 1));
  const old = children[at];
  if (kind !== "add child" && !old) return;
  if (kind === "child content" && old) children[at] = { ...old, content: `edit ${number}` };
  if (kind === "delete child" || kind === "replace child") children.splice(at, 1);
  if (kind === "add child" || kind === "replace child") {
    const place = random() < 0.5 ? children.length : integer(random, 0, children.length);
    children.splice(place, 0, childOf(chunk, place + 1, `${chunk}-e${number}`));
  }
  document.children.set(chunk, children);
}

/** The state before the last edit comes back, whole or as far as one row goes. */
function undo({ document, history }: Edit): void {
  const before = history.versionsOf(document.id).at(-2);
  if (!before) return;
  document.chunks = [...before.chunks];
  document.children.clear();
  for (const [chunk, rows] of before.children) document.children.set(chunk, [...rows]);
}
