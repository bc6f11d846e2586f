import { createHash } from "node:crypto";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { Manifest } from "../dump/manifest/manifest.js";
import { listName } from "../dump/manifest/shard.js";
import { isRegular } from "./check-files.js";
import type { Findings } from "./findings.js";
import { readPieces } from "./readers/read-text.js";

/** Reads the list of documents that the run of a shard keeps, and compares its hash; a whole run has none. */
export async function checkList(folder: string, { shard }: Manifest, findings: Findings): Promise<void> {
  if (!shard) return;
  const path = join(folder, listName);
  const entry = await lstat(path).catch(() => undefined);
  if (!isRegular(listName, entry, findings)) return;
  const hash = createHash("sha256");
  for await (const piece of readPieces(path)) hash.update(piece);
  const sha256 = hash.digest("hex");
  if (sha256 !== shard.list.sha256)
    findings.add(listName, "bytes", `has the SHA-256 ${sha256} instead of ${shard.list.sha256}`);
}
