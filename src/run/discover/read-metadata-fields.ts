import type { KnowledgeApi } from "../../client/knowledge-api.js";
import { SkipError } from "../../errors.js";
import type { DatasetJob } from "../../job/job.js";
import { type Drift, DriftCount, driftSchema } from "../../rows/drift.js";
import { type Row, rowSchema } from "../../rows/row.js";
import { rowFromRecord } from "../../rows/row-from-record.js";
import { listOf, object, text } from "../../schema.js";

/** Rows of `metadata_fields`; a sentence for every dataset that failed, and for every one whose service has no such list. */
export interface FieldsReading {
  readonly rows: readonly Row[];
  readonly failures: readonly string[];
  readonly absent: readonly string[];
  readonly drift: Drift;
}

export const fieldsReadingSchema = object({
  rows: listOf(rowSchema),
  failures: listOf(text),
  absent: listOf(text),
  drift: driftSchema,
});

/** Asks for the built-in metadata fields of every dataset once. Older services do not know the question: an HTML 404. */
export async function readMetadataFields(api: KnowledgeApi, datasets: readonly DatasetJob[]): Promise<FieldsReading> {
  const count = new DriftCount();
  const options = { keepSignatures: true, drift: count.add };
  const readings = await Promise.all(
    datasets.map(async ({ id }) => {
      try {
        const fields = await api.metadataFields(id);
        const rows = fields.map((field, index) =>
          rowFromRecord("metadata_fields", field, { dataset_id: id, position: index + 1 }, options),
        );
        return { rows, failures: [], absent: [] };
      } catch (error) {
        if (!(error instanceof SkipError)) throw error;
        const sentence = `metadata fields of dataset ${id}: ${error.message}`;
        const absent = error.status === 404 && error.code === undefined;
        return absent ? { rows: [], failures: [], absent: [sentence] } : { rows: [], failures: [sentence], absent: [] };
      }
    }),
  );
  return {
    rows: readings.flatMap(({ rows }) => rows),
    failures: readings.flatMap(({ failures }) => failures),
    absent: readings.flatMap(({ absent }) => absent),
    drift: count.drift,
  };
}
