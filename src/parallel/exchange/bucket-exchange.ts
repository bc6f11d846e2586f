import { randomUUID } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { isRunId } from "../../dump/run-id.js";
import { StopError } from "../../errors.js";
import { forEachOf } from "../../files/files.js";
import { object, pattern, text, valueIf } from "../../schema.js";
import { type Bucket, removeBelow } from "../../store/bucket/bucket.js";
import { DamagedError } from "../../store/bucket/objects.js";
import type { Remote } from "../../store/folder/job-folders.js";
import {
  type Attempt,
  type AttemptFile,
  DamagedFileError,
  type Exchange,
  isName,
  nameOfAttempt,
  nameOfReason,
  type OwnExchange,
  requireName,
  triedFrom,
} from "./exchange.js";

/** Opens the exchange of a run in a bucket, for a worker, which keeps what it reads in a local folder of its own; sends no request. */
export function openBucketExchange(store: Store, runId: string, folder: string): Exchange {
  const location = prefixIn(store, runId);
  return { ...shownIn(location), begin: async (name) => beginForBucket(location, name, folder) };
}

/**
 * Opens it for the coordinator, which holds the job; makes it where there is none. The hold is confirmed before each change. A
 * coordinator that is frozen right after that may still remove results of its successor, which then reads these documents again.
 */
export async function ownBucketExchange(remote: Remote, runId: string): Promise<OwnExchange> {
  const { bucket, retryUntilBack, confirm } = remote;
  const location = prefixIn(remote, runId);
  const change = async (work: () => Promise<unknown>) => {
    await retryUntilBack(confirm);
    await retryUntilBack(work);
  };
  await change(() => markUnderWay(location));
  return {
    ...shownIn(location),
    write: async (file, content) => {
      const key = `${location.prefix}/${requireName(file)}`;
      await change(() => markUnderWay(location)); // a coordinator that was fenced may have removed it
      await change(() => bucket.put(key, Buffer.from(content)));
    },
    results: async () => (await namesBelow(location, "results")).flatMap(documentOf),
    result: async (name) => resultFrom(await readObject(location, resultKey(location, name)))?.result,
    tried: async () => (await namesBelow(location, "tried")).flatMap((name) => triedFrom(name) ?? []),
    reason: async (tried) => readObject(location, `${location.prefix}/tried/${nameOfReason(tried)}`),
    forget: async (name) => {
      const key = resultKey(location, name);
      await change(() => bucket.remove([key]));
    },
    take: async (name, token, { file, ...facts }, path) => {
      const key = `${attemptFolder(location, { name, token })}/${requireName(file)}`;
      await rm(path, { force: true });
      await retryUntilBack(() => bucket.fetchFile(key, path, facts)).catch((error: unknown) => {
        if (!(error instanceof DamagedError)) throw error;
        throw new DamagedFileError(`${bucket.url}/${key}`, "it is not there, or has other bytes", error);
      });
    },
    remove: () => change(() => removePrefix(location)),
  };
}

/** The members that a worker and its coordinator share. */
function shownIn(location: BucketPrefix): Pick<Exchange, "shown" | "read"> {
  const { bucket, prefix } = location;
  return {
    shown: `${bucket.url}/${prefix}`,
    read: async (file) => readObject(location, `${prefix}/${requireName(file)}`),
  };
}

/** The document whose result has this name; none for any other name. */
function documentOf(file: string): readonly string[] {
  const name = file.endsWith(".json") ? file.slice(0, -".json".length) : "";
  return isName(name) ? [name] : [];
}

/** Files on their way at once. Of a large one, three parts are. */
const atOnce = 3;

/** Begins an attempt in a local folder, which is a folder of this worker alone. */
async function beginForBucket(location: BucketPrefix, name: string, folder: string): Promise<Attempt | undefined> {
  const token = randomUUID();
  const reading = { name, token, folder: join(folder, nameOfAttempt({ name, token })) };
  if (!(await isUnderWay(location))) return undefined;
  await mkdir(reading.folder, { mode: 0o700 });
  return {
    token,
    folder: reading.folder,
    submit: (files, result) => upload(location, reading, files, result),
    giveUp: async (reason) => {
      if (!(await isUnderWay(location))) return;
      const key = `${location.prefix}/tried/${nameOfReason(reading)}`;
      await location.retryUntilBack(() => location.bucket.put(key, Buffer.from(reason)));
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
function attemptFolder({ prefix }: BucketPrefix, tried: Pick<Reading, "name" | "token">): string {
  return `${prefix}/attempts/${nameOfAttempt(tried)}`;
}

function resultKey({ prefix }: BucketPrefix, name: string): string {
  return `${prefix}/results/${requireName(name)}.json`;
}

/**
 * Uploads the files and then the result, if there is none. On a store that ignores conditions, a second result may take the place of the
 * first: both name files that stay as they are, so that either one is good.
 */
async function upload(
  location: BucketPrefix,
  reading: Reading,
  files: readonly AttemptFile[],
  result: string,
): Promise<"first" | "late"> {
  const before = await findOutcome(location, reading);
  if (before !== undefined) return before;
  try {
    return await uploadAll(location, reading, files, result);
  } catch (error) {
    const impatient = { ...location, retryUntilBack: <T>(work: () => Promise<T>) => work() }; // the outage is used up if the store is gone
    const outcome = await findOutcome(impatient, reading).catch(() => undefined);
    if (outcome !== undefined) return outcome; // the end of the run also ends uploads under way
    throw error;
  }
}

/** Uploads without a look at what is there already. */
async function uploadAll(
  location: BucketPrefix,
  reading: Reading,
  files: readonly AttemptFile[],
  result: string,
): Promise<"first" | "late"> {
  const { bucket, retryUntilBack } = location;
  const folder = attemptFolder(location, reading);
  await forEachOf(files, atOnce, async ({ file, sha256 }) => {
    const path = join(reading.folder, requireName(file));
    await retryUntilBack(() => bucket.putFile(`${folder}/${file}`, path, { sha256 }));
  });
  const bytes = bytesOfResult({ token: reading.token, result });
  const written = await retryUntilBack(() => bucket.put(resultKey(location, reading.name), bytes, "absent"));
  if (written !== "refused") return "first";
  const outcome = (await findOutcome(location, reading)) ?? "late";
  if (outcome === "late") await removeBelow(bucket, folder).catch(() => {}); // else they go with the exchange
  return outcome;
}

/** The outcome that is certain already; `first` where the answer to our own result was lost. */
async function findOutcome(location: BucketPrefix, { name, token }: Reading): Promise<"first" | "late" | undefined> {
  const content = await readObject(location, resultKey(location, name));
  if (content !== undefined) return resultFrom(content)?.token === token ? "first" : "late";
  return (await isUnderWay(location)) ? undefined : "late";
}

/** The place of a job in a bucket. */
interface Store {
  readonly bucket: Bucket;
  /** Does work again, which must do no harm twice, while the store is gone for a while. */
  readonly retryUntilBack: <T>(work: () => Promise<T>) => Promise<T>;
}

/** The exchange of one run in a bucket. */
interface BucketPrefix extends Store {
  /** Keys begin with it and a slash: `exchange/<run_id>`. */
  readonly prefix: string;
}

/** The folder of the exchanges among the keys of a job; head.json never lists anything in it. */
const exchanges = "exchange";

/** The exchange of a run. StopError for a run id that is none, since a broker may give any. */
function prefixIn({ bucket, retryUntilBack }: Store, runId: string): BucketPrefix {
  if (!isRunId(runId)) throw new StopError(`${JSON.stringify(runId.slice(0, 80))} is no id of a run`);
  return { bucket, retryUntilBack, prefix: `${exchanges}/${runId}` };
}

/** A bucket has no folders whose absence could tell that a run is over, so an object does: the coordinator removes it first. */
const markOf = ({ prefix }: BucketPrefix) => `${prefix}/under-way`;

/** Says that the run is under way. */
async function markUnderWay(location: BucketPrefix): Promise<void> {
  await location.retryUntilBack(() => location.bucket.put(markOf(location), Buffer.from("{}")));
}

async function isUnderWay(location: BucketPrefix): Promise<boolean> {
  return (await location.retryUntilBack(() => location.bucket.look(markOf(location)))) !== undefined;
}

/**
 * Removes the mark and then all keys. A worker that had looked at the mark before may still upload; that stays until the exchanges of other
 * runs are removed.
 */
async function removePrefix(location: BucketPrefix): Promise<void> {
  const { bucket, retryUntilBack, prefix } = location;
  await retryUntilBack(() => bucket.remove([markOf(location)]));
  await retryUntilBack(() => removeBelow(bucket, prefix));
  await endUploads(bucket, (key) => key.startsWith(`${prefix}/`));
}

/** Removes the exchanges of all runs of a job but one, or of all. The caller holds the job. */
export async function removeOtherKeys({ bucket, retryUntilBack }: Store, runId: string | undefined): Promise<void> {
  await retryUntilBack(async () => {
    for await (const name of bucket.folders(`${exchanges}/`))
      if (name !== runId) await removeBelow(bucket, `${exchanges}/${name}`);
  });
  await endUploads(bucket, (key) => !key.startsWith(`${exchanges}/${runId}/`));
}

/** Ends uploads that workers left. Some stores do not list uploads, or not to everybody; docs/s3.md says what becomes of them there. */
async function endUploads(bucket: Bucket, isLeft: (key: string) => boolean): Promise<void> {
  try {
    for await (const upload of bucket.uploads(`${exchanges}/`)) if (isLeft(upload.key)) await bucket.endUpload(upload);
  } catch {
    // nothing but room in the store depends on it
  }
}

/** The text of an object; undefined where there is none. */
async function readObject({ bucket, retryUntilBack }: Store, key: string): Promise<string | undefined> {
  return (await retryUntilBack(() => bucket.read(key)))?.bytes.toString("utf8");
}

/** The names of the objects right below a key, in the order of their bytes. */
async function namesBelow(
  { bucket, retryUntilBack, prefix }: BucketPrefix,
  folder: string,
): Promise<readonly string[]> {
  const below = `${prefix}/${folder}/`;
  return retryUntilBack(async () => {
    const names: string[] = [];
    for await (const { key } of bucket.list(below)) names.push(key.slice(below.length));
    return names;
  });
}

/** The content of a result in a bucket: the result, and the attempt of which it is, so that two attempts never write the same bytes. */
const resultSchema = object({ token: pattern("a UUID", /^[0-9a-f-]{36}$/), result: text });

type BucketResult = Readonly<v.InferOutput<typeof resultSchema>>;

/** The bytes of a result. */
function bytesOfResult(result: BucketResult): Buffer {
  return Buffer.from(JSON.stringify(result));
}

/** The result in a text; undefined where something else than a worker wrote it. */
function resultFrom(content: string | undefined): BucketResult | undefined {
  return valueIf(v.pipe(text, v.parseJson(), resultSchema), content);
}
