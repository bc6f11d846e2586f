import type { Row } from "../../src/rows/row.js";
import { nastyTables } from "../dump/formats/nasty-rows.js";
import type { Tables } from "../dump/formats/stage.js";
import { document } from "./sound-tables.js";

const info = nastyTables.document_info ?? [];

const ofDocument = (row: Row, at: number): Row => ({
  ...row,
  dataset_id: "d",
  document_id: at === 0 ? "x" : `x${at}`,
});

/** Rows with all values that break readers or writers, and with ids as in a real run. */
export const nastyDump: Tables = {
  chunks: nastyTables.chunks.map((row, at) => ({ ...row, dataset_id: "d", document_id: "x", id: `c${at}` })),
  child_chunks: nastyTables.child_chunks.map((row, at) => ({
    ...row,
    dataset_id: "d",
    document_id: "x",
    segment_id: "c1",
    id: `k${at}`,
  })),
  documents: [
    document("x", nastyTables.chunks.length, nastyTables.child_chunks.length),
    ...info.slice(1).map((_, at) => document(`x${at + 1}`, 0, 0)),
  ],
  indexing_status: nastyTables.indexing_status.map((row, at) => ({
    ...row,
    captured_at: "2025-03-06T13:20:00Z",
    dataset_id: "d",
    batch: "b",
    document_id: `x${at}`,
  })),
  metadata_fields: nastyTables.metadata_fields.map((row, at) => ({ ...row, dataset_id: "d", position: at + 1 })),
  document_info: info.map(ofDocument),
  datasets: (nastyTables.datasets ?? []).map((row, at) => ({ ...row, dataset_id: `d${at}` })),
  document_details: (nastyTables.document_details ?? []).slice(0, info.length).map(ofDocument),
};
