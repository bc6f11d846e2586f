import * as v from "valibot";
import { isRunId } from "../../dump/run-id.js";
import { StopError } from "../../errors.js";
import { check, count, isMapping, listOf, oneOf, openObject, pattern, text, truth } from "../../schema.js";
import { deadAfter } from "../folder/lock-owner.js";
import type { Bucket } from "./bucket.js";
import type { Found } from "./objects.js";

/** The key of a job's head, which records the owner of the job and its runs. Every change of it is a conditional write. */
export const headKey = "head.json";

const folderPattern = /^runs\/(\d{8}T\d{9}Z)\.(\d{1,15})-([0-9a-f]{8})$/;
const folderName = pattern("the folder of a run, such as runs/20261120T020000123Z.3-0a1b2c3d", folderPattern);
const sha256 = pattern("a SHA-256", /^[0-9a-f]{64}$/);

const ownerSchema = openObject({
  /** Identifies this lease. */
  id: pattern("the id of a holder", /^[0-9a-f]{8}[0-9a-f-]*$/),
  host: text,
  pid: count,
  /** Start of the lease, an ISO time. */
  since: text,
  released: truth,
  /** Facts that show a process on the same machine whether the owner still runs; absent in heads of other programs. */
  born: v.exactOptional(v.nullable(text)),
  space: v.exactOptional(v.nullable(text)),
  boot: v.exactOptional(v.nullable(text)),
});

const runId = v.pipe(v.string("the id of a run"), v.check(isRunId, "the id of a run"));

const runSchema = openObject({
  run_id: runId,
  status: oneOf("complete", "partial"),
  /** The keys of its files start with this folder and a slash. */
  folder: folderName,
  manifest: openObject({ bytes: count, sha256 }),
});

const headSchema = openObject({
  format: v.literal(1, "1"),
  /** Raised by every new owner. */
  epoch: count,
  owner: v.nullable(ownerSchema),
  /** Raised with every change, as the owner's heartbeat. */
  beat: count,
  /** The runs of the job, sorted by id. A folder that is not listed is not a dump. */
  runs: listOf(runSchema),
  /** The newest complete run. */
  latest: v.nullable(runId),
});

/** The content of `head.json`. Changes keep members that a newer version added. */
export type Head = Readonly<v.InferOutput<typeof headSchema>>;
export type BucketOwner = Readonly<v.InferOutput<typeof ownerSchema>>;
export type BucketRun = Readonly<v.InferOutput<typeof runSchema>>;

/** The head of a job that never ran. */
export const emptyHead: Head = { format: 1, epoch: 0, owner: null, beat: 0, runs: [], latest: null };

/** Reads the head of a job, or of a shard by its `key`; undefined if it does not exist. */
export async function readHead(bucket: Bucket, key = headKey): Promise<(Found & { readonly head: Head }) | undefined> {
  const found = await bucket.read(key);
  return found && { ...found, head: headFrom(found.bytes, `${bucket.url}/${key}`) };
}

/** Parses a head. Throws StopError if it is invalid, or has a newer format. `url`: its address, for messages. */
export function headFrom(bytes: Buffer, url: string): Head {
  const unusable = (problem: string) =>
    new StopError(`${url} ${problem}. Bring back its last sound version, or use another prefix`);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch {
    throw unusable("is not JSON");
  }
  if (isMapping(value) && typeof value.format === "number" && value.format > 1)
    throw new StopError(`${url} was written by a newer version of kbdump (format ${value.format}). Use that version`);
  const checked = check(headSchema, value);
  if (checked.problems === null) return checked.value;
  const [first] = checked.problems;
  throw unusable(`cannot be used: ${first?.path ? `${first.path}: ${first.message}` : first?.message}`);
}

export function bytesOfHead(head: Head): Buffer {
  return Buffer.from(`${JSON.stringify(head, null, 1)}\n`);
}

/** Whether another run may take over the job. `age`: milliseconds since the head was changed, by the store's clock. */
export function mayTakeOver({ owner }: Head, age: number): boolean {
  return owner === null || owner.released || age >= deadAfter;
}

/** The head with a new owner. */
export function takenOver(head: Head, owner: BucketOwner): Head {
  return { ...head, epoch: head.epoch + 1, owner, beat: head.beat + 1 };
}

/** Whether a head still belongs to this lease. */
export function isHeadOf(head: Head, epoch: number, token: string): boolean {
  return head.epoch === epoch && head.owner?.id === token;
}

/** The head with one more heartbeat. */
export function withBeat(head: Head): Head {
  return { ...head, beat: head.beat + 1 };
}

/** The head with this run added. Adding it again changes nothing. `isComplete`: `latest` becomes this run if it is the newest. */
export function withRun(head: Head, run: BucketRun, isComplete: boolean): Head {
  const others = head.runs.filter(({ run_id }) => run_id !== run.run_id);
  const runs = [...others, run].sort((a, b) => (a.run_id < b.run_id ? -1 : 1));
  const isNewest = isComplete && (head.latest === null || head.latest < run.run_id);
  return { ...head, runs, latest: isNewest ? run.run_id : head.latest };
}

/** The head without these runs. `latest` becomes the newest complete run that is left, if it was among them. */
export function withoutRuns(head: Head, runIds: readonly string[]): Head {
  const runs = head.runs.filter(({ run_id }) => !runIds.includes(run_id));
  if (head.latest === null || runs.some(({ run_id }) => run_id === head.latest)) return { ...head, runs };
  return { ...head, runs, latest: runs.findLast(({ status }) => status === "complete")?.run_id ?? null };
}

/** The head with the lease released, so that the next run can take over immediately. */
export function releasedHead(head: Head): Head {
  return { ...head, owner: head.owner && { ...head.owner, released: true } };
}

/** The folder of a run, unique to its owner: `runs/<run_id>.<epoch>-<first 8 of the token>`. */
export function runFolderOf(runId: string, epoch: number, token: string): string {
  return `runs/${runId}.${epoch}-${token.slice(0, 8)}`;
}

/** The run folder that contains a key, with the epoch of its owner; undefined for any other key. */
export function folderOfKey(key: string): { readonly folder: string; readonly epoch: number } | undefined {
  const folder = key.split("/", 2).join("/");
  const epoch = key.startsWith(`${folder}/`) ? folderPattern.exec(folder)?.[2] : undefined;
  return epoch === undefined ? undefined : { folder, epoch: Number(epoch) };
}
