import { rm } from "node:fs/promises";
import { join } from "node:path";
import { makeOwnFolder } from "../files/files.js";
import { removeBelow } from "../store/bucket/bucket.js";
import type { BucketStore } from "../store/bucket/bucket-store.js";
import { DamagedError } from "../store/bucket/objects.js";
import { type Exchange, type OwnExchange, planFile } from "./exchange.js";

/** Access to a job's bucket. `retryUntilBack` repeats work during an outage of the store, so the work must be safe to repeat. */
type Place = Pick<BucketStore, "bucket" | "retryUntilBack">;

/** The start of the keys of all exchanges of a job; head.json never lists them. */
const exchanges = "exchange";

/**
 * The exchange of a run in its job's bucket, for a worker, which stores its files in its own local folder until
 * they are uploaded.
 */
export function bucketExchange(place: Place, runId: string, folder: string): Exchange {
  const { bucket, retryUntilBack } = place;
  const prefix = `${exchanges}/${runId}`;
  return {
    read: (key, isPatient) => readText(place, `${prefix}/${key}`, isPatient),
    begin: async (attempt) => {
      await makeOwnFolder(join(folder, attempt));
      return join(folder, attempt);
    },
    submit: async (attempt, { file, sha256 }) => {
      const key = `${prefix}/attempts/${attempt}/${file}`;
      await retryUntilBack(() => bucket.putFile(key, join(folder, attempt, file), { sha256 }));
    },
    create: async (_attempt, key, content) => {
      const written = await retryUntilBack(() => bucket.put(`${prefix}/${key}`, Buffer.from(content), "absent"));
      return written !== "refused";
    },
    drop: async (attempt, outcome) => {
      await rm(join(folder, attempt), { recursive: true, force: true });
      if (outcome === "late") await removeBelow(bucket, `${prefix}/attempts/${attempt}`).catch(() => {}); // otherwise removed later
    },
  };
}

/**
 * The exchange of a run in its job's bucket, for the coordinator. It confirms the lease before each change. A coordinator that is
 * frozen right after that may still remove results of its successor, which then reads these documents again.
 */
export function ownBucketExchange(remote: BucketStore, runId: string): OwnExchange {
  const { bucket, retryUntilBack, confirm } = remote;
  const prefix = `${exchanges}/${runId}`;
  return {
    read: (key) => readText(remote, `${prefix}/${key}`),
    names: (key) =>
      retryUntilBack(async () => {
        const below = `${prefix}/${key}/`;
        const names: string[] = [];
        for await (const found of bucket.list(below)) names.push(found.key.slice(below.length));
        return names.filter((name) => !name.includes("/"));
      }),
    write: async (key, content) => {
      await retryUntilBack(confirm);
      await retryUntilBack(() => bucket.put(`${prefix}/${key}`, Buffer.from(content)));
    },
    take: async (key, path, expected) => {
      await rm(path, { force: true });
      try {
        await retryUntilBack(() => bucket.fetchFile(`${prefix}/${key}`, path, expected));
        return true;
      } catch (error) {
        if (error instanceof DamagedError) return false;
        throw error;
      }
    },
    remove: () => removePrefixes(remote, (name) => name === runId),
  };
}

/**
 * Removes exchanges of a job, `plan.json` first. A worker that checked the plan before may still upload: the next run of the job removes
 * that.
 */
export async function removePrefixes(
  { bucket, retryUntilBack, confirm }: BucketStore,
  isChosen: (runId: string) => boolean,
): Promise<void> {
  await retryUntilBack(confirm);
  await retryUntilBack(async () => {
    for await (const name of bucket.folders(`${exchanges}/`)) {
      if (!isChosen(name)) continue;
      await bucket.remove([`${exchanges}/${name}/${planFile}`]);
      await removeBelow(bucket, `${exchanges}/${name}`);
    }
  });
  try {
    for await (const upload of bucket.uploads(`${exchanges}/`))
      if (isChosen(upload.key.split("/")[1] ?? "")) await bucket.endUpload(upload);
  } catch {
    // Some stores do not list uploads, or only to some users: docs/s3.md. Unfinished uploads only use space in the store.
  }
}

async function readText({ bucket, retryUntilBack }: Place, key: string, isPatient = true): Promise<string | undefined> {
  const read = () => bucket.read(key);
  return (await (isPatient ? retryUntilBack(read) : read()))?.bytes.toString("utf8");
}
