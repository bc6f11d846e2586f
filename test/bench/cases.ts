import { type Dataset, datasetId } from "./dataset.js";

export const allFormats = ["jsonl", "csv", "parquet", "duckdb"] as const;
export type Formats = readonly (typeof allFormats)[number][];

/** The data to read, and how it is read. */
export interface Setting {
  readonly dataset: Dataset;
  /** Milliseconds that the service takes for an answer. */
  readonly latency: number;
  readonly inFlight: number;
}

/** One line of the table. */
export interface Case extends Setting {
  readonly formats: Formats;
  /** How the document is proved whole; the floor reads every page once, whatever this is. */
  readonly consistency: "sweeps" | "anchored" | "counts";
}

const one = (chunks: number): Dataset => ({ id: datasetId, documents: 1, chunks, childLists: false });
const many = (documents: number, chunks: number): Dataset => ({ id: datasetId, documents, chunks, childLists: false });
const withChildren = (chunks: number): Dataset => ({ id: datasetId, documents: 1, chunks, childLists: true });

const each: readonly Formats[] = [["jsonl"], ["csv"], ["duckdb"], allFormats];

/** Every page once, as the floor reads them. */
function cases(settings: readonly Setting[], formats: readonly Formats[]): readonly Case[] {
  return settings.flatMap((setting) => formats.map((these) => ({ ...setting, formats: these, consistency: "counts" })));
}

/** Cases that show the cost of the proofs: for pages alone, and with a child list for every chunk. */
const proofs: readonly Case[] = [
  { dataset: one(100_000), latency: 50, inFlight: 16 },
  { dataset: withChildren(20_000), latency: 0, inFlight: 8 },
].flatMap((setting) =>
  (["counts", "anchored", "sweeps"] as const).map((consistency) => ({ ...setting, formats: ["jsonl"], consistency })),
);

/** Everything: about fifteen minutes. */
export const fullCases: readonly Case[] = [
  ...cases(
    [50, 0].flatMap((latency) => [8, 16].map((inFlight) => ({ dataset: one(100_000), latency, inFlight }))),
    each,
  ),
  ...cases([{ dataset: one(10_000), latency: 0, inFlight: 8 }], each),
  ...cases(
    [
      { dataset: one(1_000_000), latency: 0, inFlight: 8 },
      { dataset: many(5_000, 200), latency: 0, inFlight: 8 },
    ],
    [["jsonl"], ["jsonl", "csv"], allFormats],
  ),
  ...cases([{ dataset: many(5_000, 1), latency: 0, inFlight: 8 }], [["jsonl"], allFormats]),
  ...cases(
    [0, 20].map((latency) => ({ dataset: withChildren(20_000), latency, inFlight: 8 })),
    [["jsonl"]],
  ),
  ...proofs.filter(({ consistency }) => consistency !== "counts"),
];

/** A part of it that takes less than two minutes. */
export const quickCases: readonly Case[] = [
  ...cases([{ dataset: one(100_000), latency: 50, inFlight: 16 }], [["jsonl"], ["duckdb"], allFormats]),
  ...cases([{ dataset: one(100_000), latency: 0, inFlight: 8 }], [["jsonl"], ["csv"], allFormats]),
  ...cases([{ dataset: many(5_000, 1), latency: 0, inFlight: 8 }], [["jsonl"]]),
  ...proofs.filter(({ dataset, consistency }) => dataset.childLists || consistency !== "counts"),
];
