import { rm } from "node:fs/promises";
import { join } from "node:path";
import { isRunId } from "../dump/run-id.js";
import { StopError } from "../errors.js";
import { makeOwnFolder } from "../files/files.js";
import { type Bucket, removeBelow } from "../store/bucket/bucket.js";
import { DamagedError } from "../store/bucket/objects.js";
import type { Remote } from "../store/folder/job-folders.js";
import { type Exchange, type OwnExchange, planFile } from "./exchange.js";

/** The bucket of a job; `retryUntilBack` does work again, which must do no harm twice, while the store is gone for a while. */
type Place = Pick<Remote, "bucket" | "retryUntilBack">;

/** The folder of the exchanges among the keys of a job; head.json never lists anything in it. */
const exchanges = "exchange";

/**
 * The files of the exchange of a run in the bucket of its job, for a worker, which keeps what it reads in a folder of its own until
 * it is uploaded.
 */
export function bucketExchange(place: Place, runId: string, folder: string): Exchange {
  const { bucket, retryUntilBack } = place;
  const prefix = prefixOf(runId);
  return {
    read: (key, { isPatient } = { isPatient: true }) => readText(place, `${prefix}/${key}`, isPatient),
    begin: async (attempt) => {
      await makeOwnFolder(join(folder, attempt));
      return join(folder, attempt);
    },
    submit: async (attempt, { file, sha256 }) => {
      const key = `${prefix}/attempts/${attempt}/${file}`;
      await retryUntilBack(() => bucket.putFile(key, join(folder, attempt, file), { sha256 }));
    },
    create: async (key, content) => {
      const written = await retryUntilBack(() => bucket.put(`${prefix}/${key}`, Buffer.from(content), "absent"));
      return written !== "refused";
    },
    drop: async (attempt, outcome) => {
      await rm(join(folder, attempt), { recursive: true, force: true });
      if (outcome === "late") await removeBelow(bucket, `${prefix}/attempts/${attempt}`).catch(() => {}); // else they go with the exchange
    },
  };
}

/**
 * The same for the coordinator. The lease is confirmed before each change. A coordinator that is frozen right after that may still
 * remove results of its successor, which then reads these documents again.
 */
export function ownBucketExchange(remote: Remote, runId: string): OwnExchange {
  const { bucket, retryUntilBack, confirm } = remote;
  const prefix = prefixOf(runId);
  const change = async (work: () => Promise<unknown>) => {
    await retryUntilBack(confirm);
    await retryUntilBack(work);
  };
  return {
    read: (key) => readText(remote, `${prefix}/${key}`),
    names: (key) =>
      retryUntilBack(async () => {
        const below = `${prefix}/${key}/`;
        const names: string[] = [];
        for await (const found of bucket.list(below)) names.push(found.key.slice(below.length));
        return names.filter((name) => !name.includes("/"));
      }),
    write: (key, content) => change(() => bucket.put(`${prefix}/${key}`, Buffer.from(content))),
    take: async (key, path, { bytes, sha256 }) => {
      try {
        await retryUntilBack(() => bucket.fetchFile(`${prefix}/${key}`, path, { bytes, sha256 }));
        return true;
      } catch (error) {
        if (error instanceof DamagedError) return false;
        throw error;
      }
    },
    // A worker that had looked at the plan before may still upload. That stays until the exchanges of other runs are removed.
    remove: () =>
      change(async () => {
        await bucket.remove([`${prefix}/${planFile}`]);
        await removeBelow(bucket, prefix);
        await endUploads(bucket, (key) => key.startsWith(`${prefix}/`));
      }),
  };
}

/** Removes the exchanges of all runs of a job but one, or of all. */
export async function removeOtherPrefixes(
  { bucket, retryUntilBack, confirm }: Remote,
  runId: string | undefined,
): Promise<void> {
  await retryUntilBack(confirm);
  await retryUntilBack(async () => {
    for await (const name of bucket.folders(`${exchanges}/`))
      if (name !== runId) await removeBelow(bucket, `${exchanges}/${name}`);
  });
  await endUploads(bucket, (key) => !key.startsWith(`${exchanges}/${runId}/`));
}

/** The keys of an exchange begin with this. StopError for a run id that is none, since a broker may give any. */
function prefixOf(runId: string): string {
  if (!isRunId(runId)) throw new StopError(`${JSON.stringify(runId.slice(0, 80))} is no id of a run`);
  return `${exchanges}/${runId}`;
}

async function readText({ bucket, retryUntilBack }: Place, key: string, isPatient = true): Promise<string | undefined> {
  const read = () => bucket.read(key);
  return (await (isPatient ? retryUntilBack(read) : read()))?.bytes.toString("utf8");
}

/** Ends uploads that workers left. Some stores do not list uploads, or not to everybody; docs/s3.md says what becomes of them there. */
async function endUploads(bucket: Bucket, isLeft: (key: string) => boolean): Promise<void> {
  try {
    for await (const upload of bucket.uploads(`${exchanges}/`)) if (isLeft(upload.key)) await bucket.endUpload(upload);
  } catch {
    // nothing but room in the store depends on it
  }
}
