import { memoryShare } from "../../duckdb/memory-share.js";
import { isThere } from "../../dump/files/is-there.js";
import { databaseOf } from "../../dump/job-database.js";
import { type Dump, openDump } from "../../dump/open-dump.js";
import { UsageError } from "../../errors.js";
import type { Verification } from "../../verify/verification.js";
import { verifyRun } from "../../verify/verify-run.js";
import { verificationFacts } from "../facts/verification.js";
import { gatherLost } from "../lost/gather-lost.js";
import type { LostFacts } from "../lost-facts.js";
import type { ReportFacts } from "../report-facts.js";
import type { ReportOptions } from "../report-options.js";
import { bothOf } from "./both-of.js";
import { type FactsOfRun, factsOfRun } from "./facts-of-run.js";
import { partOfTally } from "./part-of-tally.js";

/** The facts of a report, and the folders that they come from, with their symlinks resolved. */
export interface Gathered {
  readonly facts: ReportFacts;
  readonly folders: { readonly run: string; readonly against: string | undefined };
}

/** The share of the whole work after which the run is read and verified; the comparison with an older run takes the rest. */
const verified = 0.6;

/** Gathers all facts of a report. Rejects as `renderReport` does. */
export async function gatherFacts(options: ReportOptions): Promise<Gathered> {
  const { folder, against, database, content, verify, tally } = options;
  if (database !== undefined) await checkDatabase(database);
  const dump = await openDump(folder, "there is no report");
  const old = against === undefined ? undefined : await openDump(against, "nothing was compared");
  const reading = { ...options, tally: partOfTally(tally, { from: 0, to: verified }) };
  const [facts, verification] = verify
    ? await readAndVerify(dump, reading)
    : [await factsOfRun(dump, reading), undefined];
  const comparing = { ...options, tally: partOfTally(tally, { from: verified, to: 1 }) };
  return {
    facts: {
      ...facts,
      verdict: {
        ...facts.verdict,
        verification: verification && verificationFacts(verification, content),
      },
      lost: old && (await lostSince(old, dump, comparing)),
      hasContent: content,
    },
    folders: { run: dump.folder, against: old?.folder },
  };
}

/**
 * Gathers the facts of a run and verifies it at the same time: DuckDB does most of the one in threads of its own, Node most of the other.
 * They share the memory.
 */
async function readAndVerify(dump: Dump, options: ReportOptions): Promise<readonly [FactsOfRun, Verification]> {
  const memory = memoryShare(options.memory, 0.5);
  return bothOf(
    options.signal,
    (signal) => factsOfRun(dump, { ...options, memory, signal }),
    (signal) => verifyRun(dump.folder, { memory, signal, tally: options.tally }),
  );
}

async function checkDatabase(path: string): Promise<void> {
  if (!(await isThere(path))) throw new UsageError("No such database:", [{ path, message: "there is no such file" }]);
}

async function lostSince(old: Dump, dump: Dump, { database, ...setting }: ReportOptions): Promise<LostFacts> {
  return gatherLost(old.folder, dump.folder, { ...setting, database: database ?? (await databaseOf(old)) });
}
