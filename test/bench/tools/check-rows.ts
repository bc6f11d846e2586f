import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Started } from "./contestants.js";
import type { Comparison } from "./options.js";

/** The rows that a tool wrote. */
export interface Written {
  /** The number of distinct ids. */
  readonly rows: number;
  /** A digest of all ids with their texts. */
  readonly digest: string;
}

/** Counts the rows that a tool wrote. Rejects if the output cannot be read. */
export async function countRows(python: string, { database, id, content, from }: Started): Promise<Written> {
  const args = [`${import.meta.dirname}/count-rows.py`, database, id, content, from];
  const { stdout } = await promisify(execFile)(python, args);
  const [rows, digest = ""] = stdout.trim().split(" ");
  return { rows: Number(rows), digest };
}

/** Throws unless a tool wrote every chunk, and the same texts as the first tool. */
export function checkRows(name: string, { dataset }: Comparison, written: Written, first: Written): void {
  const expected = dataset.documents * dataset.chunks;
  if (written.rows !== expected) throw new Error(`${name} wrote ${written.rows} of ${expected} chunks.`);
  if (written.digest !== first.digest) throw new Error(`${name} wrote other texts than the first tool.`);
}
