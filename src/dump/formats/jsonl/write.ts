import { join } from "node:path";
import type { Kind } from "../../../rows/columns.js";
import { jsonText } from "../../../rows/exact-json.js";
import { joinParts } from "../../files/join-parts.js";
import { type JoinedJsonl, joinedKinds, type StagedRows, type TextFormat, type Writer } from "../format.js";

/** One JSON object a line, keys in column order. */
export const jsonlText: TextFormat = {
  format: "jsonl",
  head: () => "",
  texts: (_kind, rows) => rows.map(jsonText),
};

/** Joins the parts of a kind to `<folder>/<kind>.jsonl`; rejects when it has other than as many lines as rows were written. */
export async function joinJsonl(
  folder: string,
  kind: Kind,
  stage: Pick<StagedRows, "parts" | "rows">,
): Promise<JoinedJsonl> {
  const path = join(folder, `${kind}.jsonl`);
  const joined = await joinParts(path, "", stage.parts(kind, "jsonl"));
  const rows = stage.rows(kind);
  if (joined.lines !== rows) throw new Error(`${kind}.jsonl has ${joined.lines} lines for ${rows} rows`);
  return { path, ...joined };
}

/** Its files lie in the run folder already: they were joined there, for the other formats to be loaded from. */
export function openWriter(): Writer {
  return {
    format: "jsonl",
    text: jsonlText,
    finish: async (staged) =>
      joinedKinds(staged).map(([kind, { lines: rows, bytes, sha256 }]) => ({
        path: `${kind}.jsonl`,
        rows,
        bytes,
        sha256,
      })),
  };
}
