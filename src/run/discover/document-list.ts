import * as v from "valibot";
import { jsonText, parseJson } from "../../rows/exact-json.js";
import { check, listOf, object, oneOf, text, truth } from "../../schema.js";
import type { Discovery } from "./discovery.js";

/** The members of a list of documents. `format` 1 is the only one so far. */
export const documentListEntries = {
  format: v.literal(1, "1"),
  /** In the order of the job, then of the service; those that the run skips come last. */
  datasets: listOf(
    object({
      dataset_id: text,
      /** Null where the service did not tell it. */
      name: v.nullable(text),
      /** `named`: the job names its documents by id; the others are those of a listing. */
      state: oneOf("named", "listed", "unsettled", "failed", "skipped"),
      documents: listOf(text),
    }),
  ),
  /** Whether all datasets of the service are known; null where the job names them. */
  all_datasets: v.nullable(truth),
  /** A sentence for every list that is not whole, or could not be read. */
  failures: listOf(text),
  /** Datasets that were skipped, or are empty, and the like. */
  notes: listOf(text),
} as const;

export const documentListSchema = object(documentListEntries);

/** All documents of a job by id, in its order, over all shards: what `list.json` in the run folder of a shard holds. */
export type DocumentList = v.InferOutput<typeof documentListSchema>;

/** The list of a whole discovery, not of the part of a shard. */
export function documentListFrom({ datasets, found }: Discovery): DocumentList {
  const listings = new Map(found?.listings.map((listing) => [listing.dataset_id, listing]));
  const skipped = found?.listings.filter(({ state }) => state === "skipped") ?? [];
  return {
    format: 1,
    datasets: [
      ...datasets.map(({ id, documents }) => {
        const { name = null, state = "named" as const } = listings.get(id) ?? {};
        return { dataset_id: id, name, state, documents };
      }),
      ...skipped.map(({ dataset_id, name, state }) => ({ dataset_id, name, state, documents: [] })),
    ],
    all_datasets: found?.allDatasets ?? null,
    failures: found?.failures ?? [],
    notes: found?.notes ?? [],
  };
}

/** The canonical text of a list, one line: the same list gives the same bytes, and so the same hash. */
export function documentListText({ datasets, all_datasets, failures, notes }: DocumentList): string {
  const members = datasets.map(({ dataset_id, name, state, documents }) => ({ dataset_id, name, state, documents }));
  return `${jsonText({ format: 1, datasets: members, all_datasets, failures, notes })}\n`;
}

/** The list that a text holds, or every problem with it, each with its place. */
export function documentListFromText(listText: string): ReturnType<typeof check<typeof documentListSchema>> {
  return checkJson(documentListSchema, listText);
}

/** Holds a JSON text against a schema. Numbers stay exact. */
export function checkJson<const Schema extends v.GenericSchema>(
  schema: Schema,
  json: string,
): ReturnType<typeof check<Schema>> {
  try {
    return check(schema, parseJson(json));
  } catch (error) {
    return { problems: [{ path: "", message: `it is no JSON: ${error instanceof Error ? error.message : error}` }] };
  }
}

/** How many documents a list has. */
export function countDocuments({ datasets }: Pick<DocumentList, "datasets">): number {
  return datasets.reduce((sum, { documents }) => sum + documents.length, 0);
}
