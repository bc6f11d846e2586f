import { randomUUID } from "node:crypto";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { emptyReadTally } from "../../read-tally.js";
import { forEachOf } from "../../run/work/for-each-of.js";
import { makeFolder } from "../../run/work/job-folders.js";
import type { Bucket, FileFacts } from "../bucket.js";
import { DamagedError } from "../fetch-file.js";
import { asideName, type JobCopy } from "./job-copy.js";

/** An object to fetch, and the path that its copy gets; the folder of that path is there. */
export interface WantedFile extends FileFacts {
  readonly key: string;
  readonly path: string;
}

export interface Fetch {
  /** Shown as progress. */
  readonly step: string;
  readonly files: readonly WantedFile[];
  /** Called for an object that is damaged, which is left out then; without it, such an object ends all. */
  readonly onDamaged?: (file: WantedFile, error: DamagedError) => void;
}

/** Objects on their way at once. Each takes up to 16 MB of memory. */
const atOnce = 4;

/**
 * Fetches objects into a folder aside, and moves them to their places once all are there and have proved right. The first failure ends
 * all, and leaves no half copy.
 */
export async function fetchAside(bucket: Bucket, job: JobCopy, { step, files, onDamaged }: Fetch): Promise<void> {
  if (files.length === 0) return;
  const aside = join(job.folder, asideName, randomUUID());
  await makeFolder(join(job.folder, asideName));
  await mkdir(aside, { mode: 0o700 });
  try {
    const places = new Map(files.map((file, at) => [join(aside, String(at)), file]));
    await fetchAll(bucket, job, {
      step,
      files: [...places].map(([path, file]) => ({ ...file, path })),
      ...(onDamaged && {
        onDamaged: ({ path }, error) => {
          const file = places.get(path);
          places.delete(path);
          if (file) onDamaged(file, error);
        },
      }),
    });
    for (const [from, { path }] of places) await rename(from, path);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

/** Fetches objects to their paths, and shows how far it is. */
export async function fetchAll(bucket: Bucket, { options }: JobCopy, { step, files, onDamaged }: Fetch): Promise<void> {
  const tally = emptyReadTally(step);
  tally.expected = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const onBytes = (bytes: number) => {
    tally.done += bytes;
  };
  const ends = new AbortController();
  const signal = AbortSignal.any([options.signal, ends.signal]);
  const unwatch = options.watch(tally);
  try {
    await forEachOf(files, atOnce, async (file) => {
      signal.throwIfAborted();
      await bucket.fetchFile(file.key, file.path, file, { signal, onBytes }).catch((error: unknown) => {
        if (onDamaged && error instanceof DamagedError) return onDamaged(file, error);
        ends.abort(error);
        throw error;
      });
    });
  } catch (error) {
    throw options.signal.aborted ? options.signal.reason : (ends.signal.reason ?? error);
  } finally {
    unwatch();
  }
}
