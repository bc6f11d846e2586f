import { type Dataset, datasetId } from "./dataset.js";

export const allFormats = ["jsonl", "csv", "parquet", "duckdb"] as const;
export type Formats = readonly (typeof allFormats)[number][];

/** The data to read, and how to serve and read it. One server serves all cases of an environment. */
export interface Environment {
  readonly dataset: Dataset;
  /** Milliseconds that the service waits before each answer. */
  readonly latency: number;
  readonly inFlight: number;
}

/** One line of the table. */
export interface Case extends Environment {
  readonly formats: Formats;
  readonly childChunks: "none" | "auto" | "all";
  /** How a run proves that documents are complete. The floor always reads every page once. */
  readonly consistency: "counts" | "anchored" | "sweeps";
}

const childChunks = ["none", "auto", "all"] as const;
const proofs = ["counts", "anchored", "sweeps"] as const;
const eachFormat: readonly Formats[] = [["jsonl"], ["csv"], ["duckdb"], allFormats];

const data = (documents: number, chunks: number): Dataset => ({
  id: datasetId,
  documents,
  chunks,
  childLists: false,
  embedsChildren: false,
});
const withLists = (documents: number, chunks: number): Dataset => ({ ...data(documents, chunks), childLists: true });

/** Cases that read every page once, like the floor, and every child list if there are any. */
function reading(dataset: Dataset, latency: number, inFlight: number, formats: readonly Formats[]): readonly Case[] {
  const how = { childChunks: dataset.childLists ? "all" : "none", consistency: "counts" } as const;
  return formats.map((these) => ({ dataset, latency, inFlight, formats: these, ...how }));
}

/** Cases that differ only in the proof that documents are complete. */
function proving(dataset: Dataset, latency: number, inFlight: number): readonly Case[] {
  const cases = reading(dataset, latency, inFlight, [["jsonl"]]);
  return proofs.flatMap((consistency) => cases.map((each) => ({ ...each, consistency })));
}

/** Every way to read the children of a hierarchical knowledge base. These cases show the load on the service. */
const ofHierarchy: readonly Case[] = childChunks.flatMap((children) =>
  proving({ ...withLists(20, 500), embedsChildren: true }, 0, 8).map((each) => ({ ...each, childChunks: children })),
);

const inOrder = [
  ...[50, 0].flatMap((latency) =>
    [8, 16].flatMap((inFlight) => reading(data(1, 100_000), latency, inFlight, eachFormat)),
  ),
  ...reading(data(1, 10_000), 0, 8, eachFormat),
  ...reading(data(200, 150), 50, 8, [["jsonl"]]),
  ...reading(data(1, 1_000_000), 0, 8, [["jsonl"], ["jsonl", "csv"], allFormats]),
  ...reading(data(5_000, 200), 0, 8, [["jsonl"], ["jsonl", "csv"], allFormats]),
  ...reading(data(2_000, 1), 20, 8, [["jsonl"]]),
  ...reading(data(5_000, 1), 0, 8, [["jsonl"], allFormats]),
  ...reading(data(120_000, 1), 0, 8, [["jsonl"]]),
  ...reading(withLists(20, 100), 20, 8, [["jsonl"]]),
  ...[0, 20].flatMap((latency) => reading(withLists(1, 20_000), latency, 8, [["jsonl"]])),
  ...proving(data(1, 100_000), 50, 16),
  ...proving(withLists(1, 20_000), 0, 8),
  ...ofHierarchy,
];

/** All cases, without duplicates. */
export const fullCases: readonly Case[] = [...new Map(inOrder.map((each) => [JSON.stringify(each), each])).values()];

/** Some of these cases, which take less than two minutes. */
export const quickCases: readonly Case[] = [
  ...reading(data(1, 100_000), 50, 16, [["duckdb"], allFormats]),
  ...proving(data(1, 100_000), 50, 16),
  ...reading(data(1, 100_000), 0, 8, [["jsonl"], ["csv"], allFormats]),
  ...reading(data(200, 150), 50, 8, [["jsonl"]]),
  ...reading(data(5_000, 1), 0, 8, [["jsonl"]]),
  ...proving(withLists(1, 20_000), 0, 8),
];

/** How often to measure a case: `rounds` times, but a slow case only once. */
export function roundsOf({ dataset: { documents, chunks } }: Case, rounds: number): number {
  return documents * chunks > 500_000 || documents > 100_000 ? 1 : rounds;
}
