import {
  type DatasetDetails,
  type DocumentDetails,
  datasetFrom,
  documentFrom,
} from "../../../src/compare/proof/settings.js";
import type { planDocument } from "../../../src/restore/copy/plan-copy.js";
import { noRows, type ReadDocument } from "../../../src/restore/copy/read-dump.js";

/** The settings of a dataset; only the given ones are set. */
export function datasetDetails(more: Partial<DatasetDetails> = {}): DatasetDetails {
  return { ...datasetFrom({ dataset_id: "d", doc_metadata: "[]", tags: "[]" }), name: "Handbook", ...more };
}

export function documentDetails(more: Partial<DocumentDetails> = {}): DocumentDetails {
  const known = documentFrom({ dataset_id: "d", document_id: "a", name: "Guide.md", data_source_type: "upload_file" });
  return { ...known, process_rule: { mode: "automatic" }, ...more };
}

type PlannedFrom = Parameters<typeof planDocument>;
type Given = Partial<ReadDocument & PlannedFrom[2] & { readonly dataset: DatasetDetails }>;

/** The facts of a complete document of the form `text_model` without rows. */
export function documentFacts(given: Given = {}): PlannedFrom {
  const { refusal = null, earlier = null, dataset = datasetDetails(), ...more } = given;
  const document: ReadDocument = {
    ...{ details: documentDetails(), rows: noRows },
    ...{ dataset_id: "d", document_id: "a", doc_form: "text_model", status: "complete", error: null },
    ...{ total: 0, chunk_count: 0, child_chunk_count: 0, sweeps: 1 },
    ...more,
  };
  return [document, { key: "d", details: dataset }, { refusal, earlier }];
}
