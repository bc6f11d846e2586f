import { join, relative } from "node:path";
import { jsonText } from "../../../rows/exact-json.js";
import { type JoinOptions, joinParts } from "../../files/join-parts.js";
import { makeFolders } from "../../files/make-folders.js";
import { fileName } from "../file-name.js";
import { type JoinedJsonl, type StagedTable, type TextFormat, textFile, type Writer } from "../format.js";

/** One JSON object a line, keys in column order. */
export const jsonlText: TextFormat = {
  format: "jsonl",
  head: () => "",
  texts: (_kind, rows) => rows.map(jsonText),
};

/** Joins the parts of a table to a file in a folder; rejects when it has other than as many lines as rows were written. */
export async function joinJsonl(
  folder: string,
  { kind, dataset, rows, parts }: Omit<StagedTable, "jsonl">,
  options: JoinOptions,
): Promise<JoinedJsonl> {
  const name = fileName({ kind, format: "jsonl", dataset, compression: options.compression ?? "none" });
  const path = join(folder, name);
  await makeFolders(folder, name);
  const joined = await joinParts(path, "", parts("jsonl"), options);
  if (joined.text.lines !== rows) throw new Error(`${name} has ${joined.text.lines} lines for ${rows} rows`);
  return { path, ...joined };
}

/** Its files lie in the run folder already: they were joined there, for the other formats to be loaded from. */
export function openWriter(): Writer {
  return {
    format: "jsonl",
    text: jsonlText,
    finish: async ({ folder, tables }) =>
      tables.map(({ rows, jsonl }) => textFile(relative(folder, jsonl.path), rows, jsonl)),
  };
}
