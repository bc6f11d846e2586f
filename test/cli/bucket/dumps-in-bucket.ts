import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type BucketEnvironment, type Machine, openBucketEnvironment } from "../../run/bucket/bucket-job.js";
import { reindex } from "../../servers/edits.js";
import type { TestStore } from "../../servers/start-s3.js";
import { runHere } from "../run-here.js";
import type { Finished } from "../run-kbdump.js";

/** A job with two runs in a bucket, and the same job in a local folder. */
export interface DumpsInBucket {
  readonly environment: BucketEnvironment;
  readonly machine: Machine;
  /** `s3://bucket/team/test` */
  readonly job: string;
  /** The ids of both runs, the older one first. */
  readonly ids: readonly [string, string];
  /** The output folder with a local copy of the job. */
  readonly dir: string;
  /** The folder in which commands keep their copies. */
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  /** Runs a command line in this process, with access to the store and its own folder for copies. */
  readonly kbdump: (args: readonly string[], env?: NodeJS.ProcessEnv) => Promise<Finished>;
  /** The names in the folder for copies. */
  readonly copies: () => Promise<readonly string[]>;
}

/** Makes two runs; a document is re-indexed between them. */
export async function makeDumpsInBucket(store: TestStore, output: object = {}): Promise<DumpsInBucket> {
  const environment = await openBucketEnvironment(store);
  const machine = await environment.machine("writer", output);
  const [hidden] = environment.documents[1].chunks;
  Object.assign(hidden ?? {}, { enabled: false, disabled_at: 1_741_300_000, disabled_by: "someone" });
  const first = (await machine.run()).manifest.run_id;
  const [edited] = environment.documents[0].chunks;
  if (edited) edited.content = `${edited.content} and more`;
  reindex(environment.documents[1], 77);
  environment.documents[1].chunks.pop(); // a row that the re-index removed
  Object.assign(environment.documents[1].chunks[0] ?? {}, { enabled: true, disabled_at: null, disabled_by: null });
  const second = (await machine.run()).manifest.run_id;
  const dir = join(environment.folder, "local");
  await uploadJob(environment, join(dir, "test"), second);
  const root = join(environment.folder, "copies");
  const env = { ...store.env, KBDUMP_COPIES: root };
  return {
    ...{ environment, machine, dir, root, env },
    job: `${environment.url}/test`,
    ids: [first, second],
    kbdump: (args, more = {}) => runHere(args, { ...env, ...more }),
    copies: () => readdir(root).catch(() => []),
  };
}

/** Downloads a job from its bucket into a local folder, laid out like a local run. */
async function uploadJob({ bucket, head }: BucketEnvironment, folder: string, latest: string): Promise<void> {
  const { runs } = await head();
  const folders = new Map(runs.map((run) => [run.folder, `runs/${run.run_id}`]));
  for await (const { key } of bucket.list("")) {
    const from = key.split("/").slice(0, 2).join("/");
    const path = join(folder, key.replace(from, folders.get(from) ?? from));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, (await bucket.read(key))?.bytes ?? "");
  }
  await symlink(join("runs", latest), join(folder, "latest"));
}
