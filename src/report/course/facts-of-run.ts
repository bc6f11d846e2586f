import { withSpill } from "../../duckdb/with-spill.js";
import type { Dump } from "../../dump/open-dump.js";
import { gatherChanges } from "../facts/changes.js";
import { factSourceOf } from "../facts/fact-source.js";
import { gatherFlaws } from "../facts/flaws.js";
import { gatherFreshness } from "../facts/freshness.js";
import { gatherHits } from "../facts/hits.js";
import { gatherIndexing } from "../facts/indexing.js";
import { gatherLengths } from "../facts/lengths.js";
import { loadTables } from "../facts/load-tables.js";
import { gatherVerdict } from "../facts/verdict.js";
import type { ReportFacts } from "../report-facts.js";
import type { ReportOptions } from "../report-options.js";

/** The facts that the rows of a run, and the history of its job, give by SQL. */
export type FactsOfRun = Pick<ReportFacts, "freshness" | "lengths" | "indexing" | "changes" | "hits" | "flaws"> & {
  readonly verdict: Omit<ReportFacts["verdict"], "verification">;
};

/** Loads the rows of a run, and gathers the facts that they give. StopError if a file is not as its run wrote it. */
export async function factsOfRun(dump: Dump, options: ReportOptions): Promise<FactsOfRun> {
  const { tally, signal } = options;
  return withSpill(":memory:", options, async (connection) => {
    const loaded = await loadTables(connection, dump, options);
    const source = factSourceOf(dump, loaded, options);
    const { manifest } = dump;
    const step = async <Facts>(name: string, gather: () => Promise<Facts>): Promise<Facts> => {
      signal.throwIfAborted();
      tally.step = name;
      return gather();
    };
    return {
      verdict: await step("counting", () => gatherVerdict(connection, source, manifest)),
      freshness: await step("looking for old documents", () => gatherFreshness(connection, source, manifest)),
      lengths: await step("measuring chunks", () => gatherLengths(connection, source)),
      indexing: await step("looking for stuck documents", () => gatherIndexing(connection, source, manifest)),
      changes: await step("comparing the runs", () => gatherChanges(connection, source)),
      hits: await step("counting hits", () => gatherHits(connection, source)),
      flaws: await step("looking for flaws", () => gatherFlaws(connection, source)),
    };
  });
}
