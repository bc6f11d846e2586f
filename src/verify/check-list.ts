import { createHash } from "node:crypto";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { Manifest } from "../dump/manifest/manifest.js";
import { listName } from "../dump/manifest/shard.js";
import { listOf, object, text, valueIf } from "../schema.js";
import { isRegular } from "./check-files.js";
import type { Findings } from "./findings.js";
import { readPieces } from "./readers/read-text.js";

/** The datasets of a list of documents, as far as verify looks at it. */
const listSchema = object({ datasets: listOf(object({ dataset_id: text, state: text })) });

type ListedDatasets = readonly { readonly dataset_id: string; readonly state: string }[];

/**
 * Gives the ids of the datasets whose documents the service listed. The run of a shard keeps the list of all documents, whose hash is
 * compared.
 */
export async function checkList(
  folder: string,
  { shard, discovered }: Manifest,
  findings: Findings,
): Promise<readonly string[]> {
  const datasets = shard ? await readList(folder, shard, findings) : discovered?.datasets;
  const listed = datasets?.filter(({ state }) => state === "listed" || state === "unsettled");
  return listed?.map(({ dataset_id: id }) => id) ?? [];
}

async function readList(
  folder: string,
  { list }: NonNullable<Manifest["shard"]>,
  findings: Findings,
): Promise<ListedDatasets> {
  const path = join(folder, listName);
  const entry = await lstat(path).catch(() => undefined);
  if (!isRegular(listName, entry, findings)) return [];
  const hash = createHash("sha256");
  const pieces: Buffer[] = [];
  for await (const piece of readPieces(path)) {
    hash.update(piece);
    pieces.push(piece);
  }
  const sha256 = hash.digest("hex");
  if (sha256 !== list.sha256) {
    findings.add(listName, "bytes", `has the SHA-256 ${sha256} instead of ${list.sha256}`);
    return [];
  }
  const found = datasetsIn(Buffer.concat(pieces));
  if (!found) findings.add(listName, "list", "is no list of documents");
  return found ?? [];
}

function datasetsIn(json: Buffer): ListedDatasets | undefined {
  try {
    return valueIf(listSchema, JSON.parse(json.toString("utf8")))?.datasets;
  } catch {
    return undefined;
  }
}
