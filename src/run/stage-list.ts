import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { flush } from "../dump/files/flush.js";
import { listName, type ManifestShard } from "../dump/manifest/shard.js";
import type { Job } from "../job/job.js";
import { countDocuments, documentListText } from "./discover/document-list.js";
import type { Reading } from "./reading.js";
import { planHash } from "./work/plan-hash.js";

/** Writes the list of all documents into the folder of a staged shard; gives the facts of the shard for its manifest. */
export async function stageList({ list }: Reading, job: Job, folder: string): Promise<ManifestShard | undefined> {
  if (!job.shard || !list) return undefined;
  const text = documentListText(list);
  const path = join(folder, listName);
  await writeFile(path, text, { mode: 0o600 });
  await flush(path);
  const sha256 = createHash("sha256").update(text).digest("hex");
  const facts = { bytes: Buffer.byteLength(text), sha256 };
  return { ...job.shard, plan: planHash(job), list: { documents: countDocuments(list), ...facts } };
}
