import { open, readdir, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { ByteFacts } from "../dump/files/byte-facts.js";
import { encodeLines } from "../dump/files/encode-lines.js";
import { readRegular } from "../dump/files/regular-file.js";
import { writeAside } from "../dump/files/write-aside.js";
import type { RowFiles } from "../dump/formats/format.js";
import { jsonlText } from "../dump/formats/jsonl/write.js";
import type { Row } from "../rows/row.js";
import { type Hold, type JobFolders, makeFolder } from "../run/work/job-folders.js";

/** Leaves readings of the indexing status, under a name that sorts, where the next run, or the next `kbdump status`, folds them into the database. */
export async function leaveWaiting({ waiting }: JobFolders, name: string, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return;
  await makeFolder(waiting);
  const lines = encodeLines(jsonlText.texts("indexing_status", rows));
  await writeAside(join(waiting, `${name}-${process.pid}.jsonl`), lines);
}

/** The files of the readings that wait, oldest first. */
export async function waitingFiles({ waiting }: JobFolders): Promise<readonly string[]> {
  const names = (await readdir(waiting)).filter((name) => name.endsWith(".jsonl")).sort();
  return names.map((name) => join(waiting, name));
}

/** One file of them all, in order, for DuckDB to load at once: a long watch leaves thousands. They stay where they are. */
export async function joinWaiting(paths: readonly string[], target: string): Promise<readonly RowFiles[]> {
  if (paths.length === 0) return [];
  const facts = new ByteFacts();
  const file = await open(target, "w", 0o600);
  try {
    for (const path of paths) {
      const bytes = await readRegular(path); // what one poll told
      facts.add(bytes);
      await file.writeFile(bytes);
    }
  } finally {
    await file.close();
  }
  return [{ paths: [target], ...facts.facts }];
}

/**
 * Removes waiting readings once the database that holds them is published. Each is renamed into our own folder first, so that a
 * fenced run removes none. The next run reads a reading again that cannot be removed, and adds none twice.
 */
export async function removeWaiting(paths: readonly string[], hold: Hold): Promise<void> {
  for (const path of paths) {
    const target = join(hold.own, basename(path));
    await rename(path, target)
      .then(() => rm(target))
      .catch(() => {});
  }
}
