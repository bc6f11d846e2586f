import { join } from "node:path";
import type { Kind } from "../rows/columns.js";
import { jsonText } from "../rows/exact-json.js";
import { joinParts } from "./join-parts.js";
import { type JoinedJsonl, joinedKinds, type Sink, type Stage, type TextFormat } from "./sink.js";

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
  stage: Pick<Stage, "parts" | "rows">,
): Promise<JoinedJsonl> {
  const path = join(folder, `${kind}.jsonl`);
  const joined = await joinParts(path, "", stage.parts(kind, "jsonl"));
  const rows = stage.rows(kind);
  if (joined.lines !== rows) throw new Error(`${kind}.jsonl has ${joined.lines} lines for ${rows} rows`);
  return { path, ...joined };
}

/** JSONL. Its files lie in the run folder already: they were joined there, for the other formats to be loaded from. */
export const jsonlSink: Sink = {
  format: "jsonl",
  finish: async (stage) =>
    joinedKinds(stage).map(([kind, { lines: rows, bytes, sha256 }]) => ({
      path: `${kind}.jsonl`,
      rows,
      bytes,
      sha256,
    })),
};
