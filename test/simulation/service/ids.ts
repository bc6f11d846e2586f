import { hashOf } from "../../servers/random.js";

/** The id of the document with this index in the scenario. */
export function documentId(index: number): string {
  return `00000000-0000-4000-8000-${String(index + 1).padStart(12, "0")}`;
}

/** The id of a chunk of a document, both counted from 1. It starts with random digits, and ends with readable numbers. */
export function chunkId(document: number, chunk: number): string {
  return idOf("c", document, chunk, 0);
}

/** The id of a child of a chunk. */
export function childId(document: number, chunk: number, child: number): string {
  return idOf("d", document, chunk, child);
}

/** The id of the `nth` chunk or child that an edit adds. */
export function editedId(kind: "chunk" | "child", edit: number, nth = 0): string {
  return idOf(kind === "chunk" ? "e" : "f", edit, nth, 0);
}

/** Shortens an id for the trace to its end, without zeros. */
export function shortId(id: string): string {
  const [, middle = "", , , end = ""] = id.split("-");
  const number = (digits: string) => digits.replace(/^0+(?=.)/, "");
  return `${end.slice(0, 1)}${number(middle)}-${number(end.slice(1, 7))}-${number(end.slice(7))}`;
}

function idOf(kind: string, one: number, two: number, three: number): string {
  const end = `${kind}${String(two).padStart(6, "0")}${String(three).padStart(5, "0")}`;
  const middle = String(one).padStart(4, "0");
  const hash = hashOf(`${end} ${middle}`).toString(16).padStart(8, "0");
  return `${hash}-${middle}-4000-8000-${end}`;
}
