import { readdir } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { isThere } from "../../dump/files/is-there.js";
import { count, listOf, object, text, valueIf } from "../../schema.js";
import { readLines } from "./read-lines.js";
import { fileName } from "./stored.js";

/** The name that shared files begin with; no document has it. */
export const sharedName = "shared";

/** The rows of a document in a file that it shares with others. */
export interface RangeFacts {
  /** Name in the folder of the parts. */
  readonly file: string;
  /** The byte of the file at which they begin. */
  readonly start: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** A line of the journal: the result of a document, and where its rows are. */
export interface SharedLine<Result> {
  readonly name: string;
  readonly state: Result;
  readonly parts: readonly RangeFacts[];
}

const nameSchema = object({ name: text });

function lineSchema<Result>(state: v.GenericSchema<unknown, Result>) {
  return object({
    name: text,
    state,
    parts: listOf(object({ file: fileName, start: count, bytes: count, sha256: text })),
  });
}

/** The name of the journal in the folder of the parts. */
export const journalFile = `${sharedName}.results.jsonl`;

/** The text of some lines. It begins with a line feed: a line before it that a kill tore off stays by itself, and is passed over. */
export function journalText(lines: readonly SharedLine<unknown>[]): string {
  return `\n${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
}

/** The last line of every document in the journal of a folder. Nobody has looked at the rows yet. */
export async function readJournal<Result>(
  folder: string,
  state: v.GenericSchema<unknown, Result>,
): Promise<readonly SharedLine<Result>[]> {
  const lines = new Map<string, SharedLine<Result>>();
  for await (const line of readChecked(folder, lineSchema(state))) lines.set(line.name, line);
  return [...lines.values()];
}

/** The names of documents that a process has read, or can go on with: parts without a journal or a result are of no use. */
export async function namesOfBegun(folder: string): Promise<ReadonlySet<string>> {
  const files = (await readdir(folder)).filter((file) => /\.(journal|result\.json)$/.test(file));
  const names = new Set(files.map((file) => file.slice(0, file.indexOf("."))));
  for await (const { name } of readChecked(folder, nameSchema)) names.add(name);
  return names;
}

async function* readChecked<T>(folder: string, schema: v.GenericSchema<unknown, T>): AsyncGenerator<T> {
  const path = join(folder, journalFile);
  if (!(await isThere(path))) return;
  const parsed = v.pipe(v.string(), v.parseJson(), schema);
  for await (const line of readLines(path)) {
    const value = valueIf(parsed, line);
    if (value !== undefined) yield value;
  }
}
