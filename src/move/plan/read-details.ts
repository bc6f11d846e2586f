import type { Connection } from "../../duckdb/open-duckdb.js";
import { streamTexts } from "../../duckdb/stream-texts.js";
import type { Dump } from "../../dump/open-dump.js";
import type { LoadOptions } from "../../restore/load-document-rows.js";
import { documentKey } from "../../rows/document-row.js";
import {
  type DatasetDetails,
  type DocumentDetails,
  datasetFrom,
  datasetNames,
  documentFrom,
  documentNames,
} from "./details.js";

/** The settings of the datasets and documents of a run. */
export interface DumpDetails {
  /** By id, in the order of the run. */
  readonly datasets: ReadonlyMap<string, DatasetDetails>;
  /** By `documentKey`. */
  readonly documents: ReadonlyMap<string, DocumentDetails>;
}

/** Reads the files `datasets` and `document_details` of a dump that has them. StopError when one is not as its run wrote it. */
export async function readDetails(connection: Connection, dump: Dump, options: LoadOptions): Promise<DumpDetails> {
  const [datasets, documents] = [new Map<string, DatasetDetails>(), new Map<string, DocumentDetails>()];
  for await (const row of rowsOf(connection, dump, "datasets", datasetNames, options)) {
    const dataset = datasetFrom(row);
    datasets.set(dataset.dataset_id, dataset);
  }
  for await (const row of rowsOf(connection, dump, "document_details", documentNames, options)) {
    const document = documentFrom(row);
    documents.set(documentKey(document), document);
  }
  return { datasets, documents };
}

async function* rowsOf(
  connection: Connection,
  dump: Dump,
  kind: "datasets" | "document_details",
  names: readonly string[],
  { signal }: LoadOptions,
): AsyncGenerator<Readonly<Record<string, unknown>>> {
  const [file] = dump.tablesOf([kind]) ?? [];
  if (!file) return;
  const rows = await dump.select(await dump.check(file, () => signal.throwIfAborted()), "VARCHAR");
  const row = `to_json({${names.map((name) => `'${name}': "${name}"`).join(", ")}})::VARCHAR`;
  try {
    for await (const texts of streamTexts(connection, row, `(${rows})`))
      for (const text of texts) yield JSON.parse(text);
  } catch (error) {
    throw dump.unreadable(file, error);
  }
}
