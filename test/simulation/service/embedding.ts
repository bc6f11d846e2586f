import type { Answer } from "../../servers/answer.js";
import type { ChildRecord } from "../../servers/json.js";
import type { DocumentShape } from "../scenario.js";
import { isRecord, markName } from "./body.js";

/** Embeds children into the chunks of a page, if documents of this shape do so. */
export function withEmbedded(
  answer: Answer,
  children: ReadonlyMap<string, readonly ChildRecord[]>,
  { form, embeds }: DocumentShape,
  markOf: (chunk: string) => number | undefined,
): Answer {
  const data = answer.json?.data;
  if (form !== "hierarchical_model" || !Array.isArray(data)) return answer;
  const childrenOf = (chunk: string) => {
    const mark = markOf(chunk);
    const rows = children.get(chunk) ?? [];
    return mark === undefined ? [...rows] : rows.map((child) => ({ ...child, [markName]: mark }));
  };
  const rows = data.map((row) =>
    isRecord(row) ? { ...row, child_chunks: embeds ? childrenOf(String(row.id)) : [] } : row,
  );
  return { ...answer, json: { ...answer.json, data: rows } };
}
