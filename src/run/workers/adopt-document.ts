import { rm } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import type { RequestTally } from "../../client/request-tally.js";
import { DamagedFileError } from "../../exchange/damaged-file.js";
import type { OwnExchange } from "../../exchange/exchange.js";
import { valueIf } from "../../schema.js";
import type { PlacedDocument } from "../discover/discovery.js";
import { writeResult } from "../parts/document-store.js";
import { partPath } from "../parts/part-names.js";
import { type Handed, handedSchema, type RequestsTold } from "./exchange-files.js";

export interface AdoptOptions {
  readonly exchange: OwnExchange;
  /** The folder of the parts of this run. */
  readonly parts: string;
  /** The text formats of this run. */
  readonly formats: readonly string[];
}

/**
 * Takes over the result of a worker: puts its files beside the other parts of the run, as if this process had read them and had been
 * killed. Gives the result; undefined where there is none yet; `damaged`, and nothing is taken over, where it is not that of the document
 * or its files have other bytes.
 */
export async function adoptDocument(
  { ref, name }: PlacedDocument,
  { exchange, parts, formats }: AdoptOptions,
): Promise<Handed | "damaged" | undefined> {
  const text = await exchange.result(name);
  if (text === undefined) return undefined;
  const handed = valueIf(v.pipe(v.string(), v.parseJson(), handedSchema), text);
  if (!handed || !isOf(handed, { ref, name }, formats)) return "damaged";
  const { token, files, result } = handed;
  const paths = files.map(({ file }) => join(parts, file));
  try {
    for (const path of paths) await rm(path, { force: true }); // an earlier process may have been killed right here
    for (const [index, file] of files.entries()) await exchange.take(name, token, file, paths[index] ?? "");
  } catch (error) {
    if (!(error instanceof DamagedFileError)) throw error;
    for (const path of paths) await rm(path, { force: true });
    return "damaged";
  }
  await writeResult(parts, name, { state: result, parts: files });
  return handed;
}

/** Whether a result is that of a document read whole, with a file for its rows in every format. */
function isOf({ result, files }: Handed, { ref, name }: PlacedDocument, formats: readonly string[]): boolean {
  const { row, proof } = result;
  const isIts = row.dataset_id === ref.datasetId && row.document_id === ref.documentId;
  const isWhole = row.status === "complete" && proof !== "none";
  const rows = { chunks: row.chunk_count, child_chunks: row.child_chunk_count };
  const expected = (["chunks", "child_chunks"] as const).flatMap((kind) =>
    rows[kind] > 0 ? formats.map((format) => partPath("", name, kind, format)) : [],
  );
  const found = files.map(({ file }) => file);
  return isIts && isWhole && expected.length === found.length && expected.every((file) => found.includes(file));
}

/** Counts the requests of a worker among those of the run. */
export function addTold(told: RequestsTold, tally: RequestTally): void {
  tally.sent += told.sent;
  tally.answered += told.answered;
  tally.retried += told.retried;
  tally.throttled += told.throttled;
  tally.bytes += told.bytes;
  for (const [reason, times] of Object.entries(told.retriedBy))
    tally.retriedBy[reason] = (tally.retriedBy[reason] ?? 0) + times;
}
