import { childrenOf } from "./count-requests.js";
import type { DocumentSurvey } from "./document-survey.js";
import type { RowSize } from "./row-sizes.js";

/** What a run writes: rows and bytes of each kind. */
export interface Written {
  readonly chunks: RowSize;
  readonly child_chunks: RowSize;
  readonly documents: number;
}

/** Adds up the documents, each by the mean size of its own rows. Without child chunks where the job reads none. */
export function writtenBy(surveys: readonly DocumentSurvey[], withChildren: boolean): Written {
  const nothing: RowSize = { rows: 0, jsonl: 0, csv: 0 };
  const chunks = surveys.map(({ total, sizes }) => times(total ?? 0, sizes.mean("chunks")));
  const children = surveys.map((survey) => times(childrenOf(survey).count, survey.sizes.mean("child_chunks")));
  return {
    chunks: chunks.reduce(plus, nothing),
    child_chunks: withChildren ? children.reduce(plus, nothing) : nothing,
    documents: surveys.length,
  };
}

const times = (rows: number, { jsonl, csv }: RowSize): RowSize => ({ rows, jsonl: rows * jsonl, csv: rows * csv });

const plus = (one: RowSize, other: RowSize): RowSize => ({
  rows: one.rows + other.rows,
  jsonl: one.jsonl + other.jsonl,
  csv: one.csv + other.csv,
});
