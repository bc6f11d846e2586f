import { integer } from "../../servers/random.js";
import type { EditKind } from "../scenario.js";
import type { Edit } from "./edit.js";
import { editedId } from "./ids.js";
import { childOf } from "./knowledge.js";

export type ChildEdit = Extract<EditKind, `${string}child${string}`>;

export function isChildEdit(kind: EditKind): kind is ChildEdit {
  return kind.includes("child");
}

/** Edits a child list. Half of the time, the longest one, because only a list of several pages can be read halfway. */
export function editChildren({ document, number, random }: Edit, kind: ChildEdit): void {
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
    children.splice(place, 0, childOf(chunk, place + 1, editedId("child", number)));
  }
  document.children.set(chunk, children);
}
