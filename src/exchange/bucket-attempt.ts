import { randomUUID } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { removeBelow } from "../bucket/remove-each.js";
import { forEachOf } from "../run/work/for-each-of.js";
import { type BucketPlace, isUnderWay, readObject } from "./bucket-place.js";
import { bytesOfResult, resultFrom } from "./bucket-result.js";
import type { Attempt, AttemptFile } from "./exchange.js";
import { nameOfAttempt, nameOfReason, requireName } from "./names.js";

/** Files on their way at once. Of a large one, three parts are. */
const atOnce = 3;

/** Begins an attempt in a local folder, which is a folder of this worker alone. */
export async function beginForBucket(place: BucketPlace, name: string, folder: string): Promise<Attempt | undefined> {
  const token = randomUUID();
  const reading = { name, token, folder: join(folder, nameOfAttempt({ name, token })) };
  if (!(await isUnderWay(place))) return undefined;
  await mkdir(reading.folder, { mode: 0o700 });
  return {
    token,
    folder: reading.folder,
    hand: (files, result) => upload(place, reading, files, result),
    giveUp: async (reason) => {
      if (!(await isUnderWay(place))) return;
      const key = `${place.prefix}/tried/${nameOfReason(reading)}`;
      await place.outlast(() => place.bucket.put(key, Buffer.from(reason)));
    },
    drop: () => rm(reading.folder, { recursive: true, force: true }),
  };
}

interface Reading {
  readonly name: string;
  readonly token: string;
  readonly folder: string;
}

/** The folder of the files of an attempt. */
export function attemptFolder({ prefix }: BucketPlace, tried: Pick<Reading, "name" | "token">): string {
  return `${prefix}/attempts/${nameOfAttempt(tried)}`;
}

export function resultKey({ prefix }: BucketPlace, name: string): string {
  return `${prefix}/results/${requireName(name)}.json`;
}

/**
 * Uploads the files and then the result, if there is none. On a store that ignores conditions, a second result may take the place of the
 * first: both name files that stay as they are, so that either one is good.
 */
async function upload(
  place: BucketPlace,
  reading: Reading,
  files: readonly AttemptFile[],
  result: string,
): Promise<"first" | "late"> {
  const before = await findOutcome(place, reading);
  if (before !== undefined) return before;
  try {
    return await uploadAll(place, reading, files, result);
  } catch (error) {
    const impatient = { ...place, outlast: <T>(work: () => Promise<T>) => work() }; // the outage is used up if the store is gone
    const outcome = await findOutcome(impatient, reading).catch(() => undefined);
    if (outcome !== undefined) return outcome; // the end of the run also ends uploads under way
    throw error;
  }
}

/** Uploads without a look at what is there already. */
async function uploadAll(
  place: BucketPlace,
  reading: Reading,
  files: readonly AttemptFile[],
  result: string,
): Promise<"first" | "late"> {
  const { bucket, outlast } = place;
  const folder = attemptFolder(place, reading);
  await forEachOf(files, atOnce, async ({ file, sha256 }) => {
    const path = join(reading.folder, requireName(file));
    await outlast(() => bucket.putFile(`${folder}/${file}`, path, { sha256 }));
  });
  const bytes = bytesOfResult({ token: reading.token, result });
  const written = await outlast(() => bucket.put(resultKey(place, reading.name), bytes, "absent"));
  if (written !== "refused") return "first";
  const outcome = (await findOutcome(place, reading)) ?? "late";
  if (outcome === "late") await removeBelow(bucket, folder).catch(() => {}); // else they go with the exchange
  return outcome;
}

/** The outcome that is certain already; `first` where the answer to our own result was lost. */
async function findOutcome(place: BucketPlace, { name, token }: Reading): Promise<"first" | "late" | undefined> {
  const content = await readObject(place, resultKey(place, name));
  if (content !== undefined) return resultFrom(content)?.token === token ? "first" : "late";
  return (await isUnderWay(place)) ? undefined : "late";
}
