import { readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Row } from "../normalise/row-from-record.js";
import { encodeLines } from "../sinks/encode-lines.js";
import { flush } from "../sinks/flush.js";
import { jsonlText } from "../sinks/jsonl.js";
import type { JsonlFile } from "../sinks/sink.js";
import { type JobFolders, makeFolder } from "./job-folders.js";

/** Leaves readings of the indexing status, under a name that sorts, where the next run, or the next `kbdump status`, folds them into the database. */
export async function leaveWaiting({ waiting }: JobFolders, name: string, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return;
  await makeFolder(waiting);
  const path = join(waiting, `${name}-${process.pid}.jsonl`);
  await writeFile(`${path}.part`, encodeLines(jsonlText.texts("indexing_status", rows)), { mode: 0o600 });
  await flush(`${path}.part`);
  await rename(`${path}.part`, path);
}

/** The readings that wait, oldest first. */
export async function waitingFiles({ waiting }: JobFolders): Promise<readonly JsonlFile[]> {
  const names = (await readdir(waiting)).filter((name) => name.endsWith(".jsonl")).sort();
  return Promise.all(
    names.map(async (name) => {
      const path = join(waiting, name);
      return { path, longestLine: (await stat(path)).size };
    }),
  );
}

/** To be called when the database that holds them is in place. */
export async function removeWaiting(files: readonly JsonlFile[]): Promise<void> {
  for (const { path } of files) await rm(path, { force: true });
}
