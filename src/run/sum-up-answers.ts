import type { StatusReading } from "../indexing/capture-status.js";
import { originalWarnings } from "../originals/originals-text.js";
import { type HeldOriginal, listOriginals } from "../originals/save-originals.js";
import { sumOfDrift } from "../rows/drift.js";
import { type Discovery, namesOf } from "./discover/discovery.js";
import type { DetailsReading } from "./discover/read-details.js";
import type { FieldsReading } from "./discover/read-metadata-fields.js";
import type { DumpedDocument } from "./documents/document-result.js";
import type { Reading } from "./reading.js";
import { statusWarnings } from "./status-warnings.js";

/** The answers of a service to everything that a job asks. */
export interface Answers {
  readonly discovery: Discovery;
  readonly documents: readonly DumpedDocument[];
  /** Further sentences for a reader on how the documents were read. */
  readonly notes: readonly string[];
  readonly fields: FieldsReading;
  /** Undefined without `details: true`. */
  readonly details: DetailsReading | undefined;
  /** Undefined without `originals: true`. */
  readonly originals: readonly HeldOriginal[] | undefined;
  /** The indexing status before the documents were read, and after it. */
  readonly before: StatusReading;
  readonly after: StatusReading;
}

/** The rows of the answers, and what there is to say of them. */
export function sumUpAnswers(answers: Answers): Pick<Reading, "rows" | "isWhole" | "warnings" | "drift"> {
  const { discovery, fields, details, before, after } = answers;
  const { found } = discovery;
  const failures = [
    ...(found?.failures ?? []),
    ...fields.failures,
    ...new Set([...before.failures, ...after.failures]),
  ];
  const lists = [found, fields, details].filter((list) => list !== undefined);
  return {
    rows: {
      indexing_status: [...before.rows, ...after.rows],
      metadata_fields: fields.rows,
      datasets: details?.datasets,
      document_details: details?.documents,
    },
    isWhole: failures.length === 0,
    warnings: [
      ...failures,
      ...(found?.notes ?? []),
      ...answers.notes,
      ...fields.absent,
      ...(details?.missing ?? []),
      ...originalWarnings(listOriginals(answers.originals).originals ?? [], namesOf(discovery)),
      ...warningsOfStatus(answers),
    ],
    drift: sumOfDrift([...lists, before, after].map(({ drift }) => drift)),
  };
}

/** Warnings of what the indexing status says against the documents. */
export function warningsOfStatus({ discovery, documents, before, after }: StatusFacts): readonly string[] {
  const { datasets, found } = discovery;
  const filtered = new Set(datasets.filter(({ status, keyword }) => status.length > 0 || keyword).map(({ id }) => id));
  const facts = { before, after, documents, listed: found?.rows ?? [], names: namesOf(discovery) };
  return statusWarnings(facts, (datasetId) => filtered.has(datasetId));
}

/** The readings of the indexing status, and the documents that they are of. */
export interface StatusFacts extends Pick<Answers, "discovery" | "documents"> {
  readonly before: Pick<StatusReading, "rows">;
  readonly after: Pick<StatusReading, "rows">;
}
