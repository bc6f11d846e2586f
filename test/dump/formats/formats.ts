import { join } from "node:path";
import { buildFromStaged } from "../../../src/database/build-database.js";
import type { StagedFile } from "../../../src/dump/formats/format.js";
import { fileFormats, formatOf } from "../../../src/dump/formats/formats.js";
import { allKinds, type Kind } from "../../../src/rows/columns.js";
import { type Cells, readCsvFile, readParquetFile, readRowFile, readTable } from "./read-back.js";
import type { Stage } from "./stage.js";

/** A format under contract test. `base`: the folder that contains `stage` and `scratch`. */
export interface Subject {
  readonly format: string;
  readonly write: (stage: Stage, base: string) => Promise<readonly StagedFile[]>;
  /** The files that the format writes to the run folder. */
  readonly files: readonly string[];
  /** The cells of a kind as text, from an independent reader that also checks their types. */
  readonly read: (base: string, kind: Kind) => Promise<Cells>;
}

export const duckDbOptions = (base: string) => ({ memory: "800MB", temporary: join(base, "scratch", "spill") });

/** The path of the database that is built from a stage. */
export const databaseOf = (base: string) => join(base, "scratch", "new.duckdb");

const stageFolder = (base: string) => join(base, "stage");
const readers = { jsonl: readRowFile, csv: readCsvFile, parquet: readParquetFile };

export const subjects: readonly Subject[] = [
  ...fileFormats.map(
    (format): Subject => ({
      format,
      write: async (stage, base) => {
        const { openWriter } = await formatOf(format).load();
        return openWriter({ csvSafe: false, duckDb: duckDbOptions(base) }).finish(stage);
      },
      files: allKinds.map((kind) => `${kind}.${format}`),
      read: (base, kind) => readers[format](stageFolder(base), kind),
    }),
  ),
  {
    format: "duckdb",
    write: async (stage, base) => {
      const target = { previous: undefined, target: databaseOf(base), waiting: [] };
      await buildFromStaged(stage, { ...duckDbOptions(base), ...target });
      return [];
    },
    files: [],
    read: (base, kind) => readTable(databaseOf(base), kind),
  },
];
