import type { Connection } from "../../../src/duckdb/open-duckdb.js";
import type { Manifest } from "../../../src/dump/manifest.js";
import { type FactSource, factSourceOf } from "../../../src/report/facts/fact-source.js";
import type { LoadOptions } from "../../../src/report/facts/load-tables.js";
import { withTables } from "./loaded.js";

type GatherOptions = Partial<Pick<LoadOptions, "content" | "database">>;

/** Loads a run folder as a report does, and gathers facts of it. */
export function gathered<Facts>(
  folder: string,
  gather: (connection: Connection, source: FactSource, manifest: Manifest) => Promise<Facts>,
  { database = undefined, content = true }: GatherOptions = {},
): Promise<Facts> {
  return withTables(
    folder,
    (connection, dump, loaded) =>
      gather(connection, factSourceOf(dump, loaded, { database, content, nameFolder: undefined }), dump.manifest),
    { database, content },
  );
}
