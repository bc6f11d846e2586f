import { readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { ifAbsent } from "../../dump/files/is-there.js";
import { writeAside } from "../../dump/files/write-aside.js";
import type { Bucket, ObjectFacts } from "../bucket.js";
import { writingCache } from "./cache.js";
import { fetchAside } from "./fetch-aside.js";
import { keepInUse } from "./in-use.js";
import { asideName, type JobCopy, withBucket } from "./job-copy.js";
import { makeRoom } from "./make-room.js";

/** Fetches of a database that is replaced each time, before that is an error. */
const mostTries = 3;

/** A database, and the place of its copy. */
interface Source {
  readonly key: string;
  readonly path: string;
}

/** Brings the database of a job into the cache, unless the copy is current. The path of the copy; undefined where the job has none. */
export async function copyDatabase(job: JobCopy): Promise<string | undefined> {
  const key = `${job.job}.duckdb`;
  const path = join(job.folder, key);
  return writingCache(job.cache, async () => {
    await keepInUse(path, job.options.signal); // first, so that no other process removes a copy that is current
    const isThere = await withBucket(job.url, job.options, (bucket) => bringDatabase(bucket, job, { key, path }));
    if (isThere) return path;
    await rm(path, { force: true });
    return undefined;
  });
}

/** Resolves to whether the bucket has a database. It is fetched again where it is replaced while it is fetched. */
async function bringDatabase(bucket: Bucket, job: JobCopy, source: Source): Promise<boolean> {
  let facts = await bucket.look(source.key);
  for (let tries = 1; facts; tries++) {
    if (await isCurrent(job, source, facts)) return true;
    try {
      await fetchDatabase(bucket, job, source, facts);
      return true;
    } catch (error) {
      const now = await bucket.look(source.key);
      if (tries === mostTries || now?.etag === facts.etag) throw error;
      facts = now;
    }
  }
  return false;
}

async function fetchDatabase(bucket: Bucket, job: JobCopy, { key, path }: Source, facts: ObjectFacts): Promise<void> {
  const { bytes, sha256 } = facts;
  await makeRoom(job.cache, { url: `${job.url}/${key}`, whole: bytes, missing: bytes });
  await fetchAside(bucket, job, { step: `fetching ${key}`, files: [{ key, path, bytes, sha256 }] });
  const { ino } = await stat(path);
  await writeAside(noteOf(job), noteText(facts, ino), { aside: `${noteOf(job)}.${process.pid}` });
}

/** Whether the copy is of the object with this ETag. The note names the file, too: another process may replace both at the same time. */
async function isCurrent(job: JobCopy, { path }: Source, facts: ObjectFacts): Promise<boolean> {
  const file = await stat(path).catch(ifAbsent(undefined));
  if (file?.size !== facts.bytes) return false;
  const note = await readFile(noteOf(job), "utf8").catch(ifAbsent(undefined));
  return note === noteText(facts, file.ino);
}

function noteOf({ folder }: JobCopy): string {
  return join(folder, asideName, "database.json");
}

function noteText({ etag, bytes }: ObjectFacts, ino: number): string {
  return `${JSON.stringify({ etag, bytes, ino })}\n`;
}
