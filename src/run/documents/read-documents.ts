import type { Client } from "../../client/open-client.js";
import { LookAhead } from "../../crawl/look-ahead.js";
import type { TextFormat } from "../../dump/formats/format.js";
import type { Job } from "../../job/job.js";
import type { Log } from "../../log.js";
import { countOf } from "../../words.js";
import { type Discovery, documentsOf, namesOf, type PlacedDocument } from "../discover/discovery.js";
import { findMovedDocuments } from "../discover/moved-documents.js";
import { namesIn } from "../parts/part-names.js";
import { SharedParts } from "../parts/shared-parts.js";
import type { RunTally } from "../setting/run-tally.js";
import { forEachOf } from "../work/for-each-of.js";
import type { Workspace } from "../work/workspace.js";
import { type DocumentResult, type DumpedDocument, resultSchema, sentenceOf } from "./document-result.js";
import { discardDocument, dumpDocument } from "./dump-document.js";
import type { DumpOptions } from "./dump-options.js";

export interface ReadOptions {
  readonly job: Job;
  readonly formats: readonly TextFormat[];
  readonly workspace: Workspace;
  readonly tally: RunTally;
  readonly now: () => Date;
  readonly log: Log;
  readonly retryFailed: boolean;
}

/** Pages that may be under way or waiting, beyond the next one of each list, for every request in flight. */
const aheadPerSlot = 2;
/** Documents that are read at once, for every request in flight: a small one has one request under way at a time. */
const documentsPerSlot = 2;

/** All documents of a run, and what a reader should know of how they were read. */
export interface DocumentsRead {
  /** In the order of the job. */
  readonly documents: readonly DumpedDocument[];
  readonly notes: readonly string[];
}

/** Pages of one run that are asked for ahead. */
export function lookAheadOf({ service }: ReadOptions["job"]): LookAhead {
  return new LookAhead(service.concurrency * aheadPerSlot);
}

/**
 * Reads every document; then asks which of them have changed since they were listed, and reads these once more. The second
 * reading counts where it is complete, or the first is not.
 */
export async function readDocuments(api: Client, discovery: Discovery, options: ReadOptions): Promise<DocumentsRead> {
  const shared = await SharedParts.open(options.workspace.parts, resultSchema);
  try {
    return await readAll(api, discovery, shared, options);
  } finally {
    await shared.close();
  }
}

async function readAll(
  api: Client,
  discovery: Discovery,
  shared: SharedParts<DocumentResult>,
  options: ReadOptions,
): Promise<DocumentsRead> {
  const { job, tally, workspace, log } = options;
  const placed = documentsOf(discovery);
  const names = namesOf(discovery);
  tally.documents = placed.length;
  const lookAhead = lookAheadOf(job);
  const begun = await namesIn(workspace.parts);
  const atOnce = job.service.concurrency * documentsPerSlot;
  const dumping = { ...options, parts: workspace.parts, begun, lookAhead };
  const sharing = { ...dumping, shared };
  const read = ({ ref, name }: PlacedDocument, how: DumpOptions) =>
    dumpDocument(api, ref, name, how).catch((error: unknown) => {
      api.stop(error); // what cannot be skipped ends the run: the others must not go on asking
      throw error;
    });

  const documents: DumpedDocument[] = [];
  await forEachOf(placed, atOnce, async (place, index) => {
    const result = await read(place, sharing);
    documents[index] = result;
    tally.documentsDone++;
    if (result.row.status === "failed") tally.documentsFailed++;
    if (result.row.status !== "complete") log("warn", sentenceOf(result.row, names));
  });

  if (documents.every(({ row }) => row.status === "failed")) return { documents, notes: [] };
  const { ids, notes } = await findMovedDocuments(api, discovery, lookAhead);
  for (const note of notes) log("warn", note);
  for (const [index, { name }] of placed.entries())
    if (begun.has(secondName(name)) && !documents[index]?.isOld) await discardDocument(secondName(name), dumping);
  const isSecondBegun = (index: number, name: string) =>
    begun.has(secondName(name)) && documents[index]?.isOld === true;
  const again = [...placed.entries()].filter(
    ([index, { ref, name }]) =>
      documents[index]?.row.status !== "failed" && (ids.has(ref.documentId) || isSecondBegun(index, name)),
  );
  if (again.length > 0) tally.step = "reading changed documents again";
  if (again.length > 0)
    log("info", `${countOf(again.length, "document")} changed since the run listed them: reading them again`);
  await forEachOf(again, atOnce, async ([index, { ref, name }]) => {
    const second = await read({ ref, name: secondName(name) }, dumping);
    const first = documents[index];
    if (first) documents[index] = newerOf(first, second, tally);
  });
  return { documents, notes };
}

/** The parts of a second reading lie beside those of the first; what may have to be removed has files of its own. */
const secondName = (name: string): string => `${name}_again`;

/** The second reading, unless the first one is the better; the tally forgets the rows of the other. */
function newerOf(first: DumpedDocument, second: DumpedDocument, tally: RunTally): DumpedDocument {
  const isWorse =
    second.row.status === "failed" || (second.row.status !== "complete" && first.row.status === "complete");
  const dropped = isWorse ? second : first;
  tally.chunks -= dropped.row.chunk_count;
  tally.child_chunks -= dropped.row.child_chunk_count;
  return isWorse ? first : second;
}
