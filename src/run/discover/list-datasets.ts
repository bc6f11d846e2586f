import type { Listed } from "../../client/check-list.js";
import type { KnowledgeApi } from "../../client/knowledge-api.js";
import { plainText } from "../../client/plain-text.js";
import type { LookAhead } from "../../crawl/look-ahead.js";
import { readDatasets } from "../../crawl/read-datasets.js";
import { flawText } from "../../crawl/read-whole-list.js";
import { SkipError, StopError } from "../../errors.js";
import type { DatasetJob } from "../../job/job.js";
import { nameAndId } from "../../words.js";
import type { Listing } from "./discovery.js";

/** A dataset whose documents are to be known. */
export interface Wanted {
  readonly dataset: DatasetJob;
  /** null where nobody said it. */
  readonly name: string | null;
}

/** The datasets that the service lists, and those that the run reads. */
export interface AllDatasets {
  readonly wanted: readonly Wanted[];
  readonly skipped: readonly Listing[];
  readonly whole: boolean;
  readonly failures: readonly string[];
  readonly notes: readonly string[];
}

/**
 * Every dataset of the service, apart from those whose chunks it does not give. StopError when they cannot be listed, or
 * none is left.
 */
export async function listDatasets(api: Pick<KnowledgeApi, "datasets">, lookAhead: LookAhead): Promise<AllDatasets> {
  const list = await readDatasets(api, lookAhead).catch((error: unknown) => {
    throw refusalOf(error) ?? error;
  });
  const { rows, problems, limited } = list;
  if (rows.length === 0) throw new StopError("the service lists no datasets; is it the right key?");
  const judged = rows.map((row) => ({ row, reason: reasonToSkip(row) }));
  const skipped = judged.flatMap(({ row, reason }) => (reason === undefined ? [] : [{ row, reason }]));
  const notes = skipped.map(
    ({ row, reason }) => `dataset ${nameAndId(nameOf(row), plainText(row.id, "", 100))} is skipped: ${reason}`,
  );
  if (skipped.length === rows.length) throw new StopError(`no dataset can be read; the first: ${notes[0]}`);
  if (limited)
    notes.push("the service does not take include_all: datasets of which the key is no member may be missing");
  return {
    wanted: judged.filter(({ reason }) => reason === undefined).map(({ row }) => wantedFrom(row)),
    skipped: skipped.map(({ row }) => ({ dataset_id: row.id, name: nameOf(row), state: "skipped", documents: 0 })),
    whole: problems.length === 0,
    failures: problems.length > 0 ? [`the list of datasets ${flawText(list)}`] : [],
    notes,
  };
}

/** Some services answer 401 to a key that is bound to one dataset. */
function refusalOf(error: unknown): StopError | undefined {
  const unauthorized = error instanceof StopError && error.status === 401;
  if (!unauthorized && !(error instanceof SkipError)) return undefined;
  const hint = unauthorized ? ", or it may not list the datasets: then name them by id in the job file" : "";
  return new StopError(`the datasets cannot be listed: ${error.message}${hint}`, {
    cause: error,
  });
}

function reasonToSkip({ provider, enable_api: enabled }: Listed): string | undefined {
  if (provider === "external") return "its chunks are kept outside of the service (provider external)";
  return enabled === false ? "API access is off for it (enable_api false)" : undefined;
}

function wantedFrom(row: Listed): Wanted {
  const dataset: DatasetJob = { id: row.id, documents: "all", batches: [], status: [], keyword: undefined };
  return { dataset, name: nameOf(row) };
}

const nameOf = ({ name }: Listed): string | null => (typeof name === "string" ? name : null);
