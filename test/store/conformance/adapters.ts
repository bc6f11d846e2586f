import { readdir, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { testFolder } from "../../run/job-for.js";
import { hasS3, startMoto, type TestStore } from "../../servers/start-s3.js";
import { type StoreProxy, startStoreProxy } from "../../servers/store-proxy.js";
import { keysBelow, openAt, sha256Of } from "../bucket/bucket-helpers.js";

/** The published state of a job, as readers see it. */
export interface Seen {
  /** The rows of each published run, by run id. */
  readonly runs: Readonly<Record<string, string>>;
  readonly latest: string | undefined;
  /** The ids of the runs in the database. */
  readonly database: readonly string[];
}

/** The environment of an owner: the job file, and variables that name the store. */
export interface Machine {
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
}

/** A job with toy runs: see owner.mjs. */
export interface Place {
  readonly machine: Machine;
  /** Makes the lease look as if its owner had sent no heartbeat for long; returns the machine for a successor. */
  readonly expire: () => Promise<Machine>;
  /** Steps that readers do not see, so an owner may still take them after it lost the lease. */
  readonly unseen: readonly string[];
  readonly seen: () => Promise<Seen>;
  /** Expects that no files or objects are left of runs that readers do not see. */
  readonly expectTidy: (seen: Seen) => Promise<void>;
}

/** A kind of store, and how a test sets up a job in it. */
export interface Adapter {
  readonly name: string;
  readonly isHere: boolean;
  readonly open: () => Promise<AsyncDisposable & { readonly newPlace: () => Promise<Place> }>;
}

export const adapters: readonly Adapter[] = [
  {
    name: "a folder",
    isHere: true,
    open: async () => ({ newPlace: folderPlace, [Symbol.asyncDispose]: async () => {} }),
  },
  {
    name: "a bucket",
    isHere: hasS3,
    open: async () => {
      const store = await startMoto();
      return { newPlace: () => bucketPlace(store), [Symbol.asyncDispose]: () => store.stop() };
    },
  },
];

async function writeJob(folder: string, output: object, name = "job"): Promise<string> {
  const file = join(folder, `${name}.json`);
  const datasets = [{ id: "7f0c4a2e-0000-4000-8000-000000000001", documents: "all" }];
  const service = { base_url: "https://kb.example.com/v1" };
  await writeFile(file, JSON.stringify({ name: "test", service, datasets, output }));
  return file;
}

async function folderPlace(): Promise<Place> {
  const folder = await testFolder();
  const job = join(folder, "out", "test");
  const machine = { file: await writeJob(folder, { dir: join(folder, "out") }), env: {} };
  const idsIn = (path: string) => readdir(path).catch((): string[] => []);
  return {
    machine,
    expire: async () => {
      await rm(join(job, ".work", "lock"), { force: true });
      return machine;
    },
    unseen: ["upload", "follow"],
    seen: async () => {
      const runs: Record<string, string> = {};
      for (const id of await idsIn(join(job, "runs"))) {
        const manifest = JSON.parse(await readFile(join(job, "runs", id, "manifest.json"), "utf8"));
        const rows = await readFile(join(job, "runs", id, "chunks.jsonl"), "utf8");
        expect([manifest.run_id, manifest.files[0].sha256]).toEqual([id, sha256Of(rows)]);
        runs[id] = rows;
      }
      const latest = await readlink(join(job, "latest")).catch(() => undefined);
      const database = await readFile(join(job, "test.duckdb"), "utf8").catch(() => "");
      return { runs, latest: latest?.replace("runs/", ""), database: idsOf(database) };
    },
    expectTidy: async () => {
      const names = await readdir(join(job, ".work"));
      expect(names.filter((name) => !["fenced", "indexing_status"].includes(name))).toEqual([]);
    },
  };
}

const idsOf = (database: string) => database.split("\n").filter((line) => line !== "");

let count = 0;
/** How many milliseconds the successor's clock is ahead, so that an owner without a heartbeat counts as gone. */
const later = 125_000;

/** Sets up a job in a bucket. The successor of an owner is another machine with its own work folder. */
async function bucketPlace(store: TestStore): Promise<Place> {
  const folder = await testFolder();
  const name = `conformance-${++count}-${process.pid}`;
  await store.makeBucket(name);
  const fileOf = (machine: string) =>
    writeJob(folder, { dir: `s3://${name}/team`, work_dir: join(folder, machine) }, machine);
  const [one, two] = [await fileOf("one"), await fileOf("two")];
  const bucket = await openAt(store, `s3://${name}/team/test`);
  const textOf = async (key: string) => (await bucket.read(key))?.bytes.toString();
  let ahead: StoreProxy | undefined;
  return {
    machine: { file: one, env: store.env },
    expire: async () => {
      ahead ??= await startStoreProxy(store);
      ahead.ageBy(later);
      return { file: two, env: ahead.env };
    },
    unseen: ["upload", "follow", "latest"],
    seen: async () => {
      const head = JSON.parse((await textOf("head.json")) ?? '{"runs":[],"latest":null}');
      const runs: Record<string, string> = {};
      for (const { run_id, folder, manifest } of head.runs) {
        const found = (await textOf(`${folder}/manifest.json`)) ?? "";
        const rows = (await textOf(`${folder}/chunks.jsonl`)) ?? "";
        expect([manifest.sha256, JSON.parse(found).files[0].sha256]).toEqual([sha256Of(found), sha256Of(rows)]);
        runs[run_id] = rows;
      }
      const database = (await textOf("test.duckdb")) ?? "";
      return { runs, latest: head.latest ?? undefined, database: idsOf(database) };
    },
    expectTidy: async ({ runs }) => {
      const keys = await keysBelow(bucket, "");
      expect(new Set(keys.filter((key) => key.startsWith("runs/")).map((key) => key.slice(5, 24)))).toEqual(
        new Set(Object.keys(runs)),
      );
    },
  };
}
