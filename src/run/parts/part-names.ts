import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { PartPlace } from "../../dump/files/join-parts.js";
import { isKind, type Kind } from "../../rows/columns.js";

/** The path of one part: the rows of one kind, of one document, in one text format. */
export function partPath(folder: string, name: string, kind: Kind, format: string): string {
  return join(folder, partName(name, kind, format));
}

export const partName = (name: string, kind: Kind, format: string) => `${name}.${kind}.${format}`;

/** The place of a part, and its rows, as its name says. */
export function partPlace(folder: string, file: string): PartPlace {
  const [kind = "", format = ""] = file.split(".").slice(-2);
  if (!isKind(kind)) throw new Error(`${file} is the part of no kind`);
  return { kind, format, path: join(folder, file) };
}

/** The names of the documents that have files of their own in a folder. */
export async function namesIn(folder: string): Promise<ReadonlySet<string>> {
  return new Set((await readdir(folder)).map((file) => file.slice(0, file.indexOf("."))));
}
