import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { copyDatabase } from "../bucket/copy/copy-database.js";
import { ifAbsent, isThere } from "../dump/files/is-there.js";
import { UsageError } from "../errors.js";
import { foldersOf, shardOfFolder } from "../run/work/job-folders.js";
import { findNamed } from "./find-named.js";
import { findRunOf } from "./find-run.js";
import type { FindOptions } from "./found-thing.js";

/**
 * Finds what SQL can ask under a word: the database of a job, a database file, or a run folder. UsageError where there is
 * none.
 */
export async function findDatabase(
  word: string,
  options: FindOptions,
): Promise<{ readonly database: string } | { readonly folder: string }> {
  const found = await findNamed(word, options);
  if (found.kind === "database") return { database: found.file };
  if (found.kind === "run folder") return { folder: found.folder };
  if (found.run !== undefined) return { folder: await findRunOf(found, word, options) };
  const { copy, place } = found;
  const { database } = foldersOf(place);
  if (copy) {
    if ((await copyDatabase(copy)) !== undefined) return { database };
    const message = `there is no ${copy.url}/${copy.job}.duckdb. Put duckdb into output.formats and run the job, or name a run`;
    throw new UsageError("The job has no database:", [{ path: word, message }]);
  }
  if (await isThere(database)) return { database };
  const [copied, ...others] = (await readdir(dirname(database)).catch(ifAbsent<string[]>([]))).filter((name) =>
    name.endsWith(".duckdb"),
  );
  if (copied !== undefined && others.length === 0) return { database: join(dirname(database), copied) }; // a copy of a job's folder
  const message = shardOfFolder(place.name)
    ? "it is a shard, which has no database. Name a run folder of it, or join the shards and name the job"
    : `there is no ${database}. Put duckdb into output.formats and run the job, or name a run folder`;
  throw new UsageError("The job has no database:", [{ path: word, message }]);
}
