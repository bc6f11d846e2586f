import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { BusyError, LostError } from "../../../src/errors.js";
import type { Bucket } from "../../../src/store/bucket/bucket.js";
import { cleanUpBucket } from "../../../src/store/bucket/bucket-store.js";
import {
  type BucketLease,
  type BucketLeaseOptions,
  type BucketRun,
  bytesOfHead,
  emptyHead,
  type Head,
  headFrom,
  leaseInBucket,
  runFolderOf,
  withoutRun,
  withRun,
} from "../../../src/store/bucket/head.js";
import { tryConditions } from "../../../src/store/lease.js";
import { startCuttingProxy } from "../../servers/cutting-proxy.js";
import { envFor, faultyStores, hasS3, startMoto, type TestStore } from "../../servers/start-s3.js";
import { keysBelow, openAt } from "./bucket-helpers.js";

const still = { now: () => new Date("2026-11-20T02:00:00Z"), log: () => {}, every: 3_600_000 };
const patient = { timeout: 30_000 };

async function leased(bucket: Bucket, options: Partial<BucketLeaseOptions> = {}): Promise<BucketLease> {
  const held = await leaseInBucket(bucket, { ...still, ...options });
  onTestFinished(() => held.release().catch(() => {}));
  return held;
}

function runOf(held: BucketLease, second = 0): BucketRun {
  const run_id = `2026112${second}T020000123Z`;
  const manifest = { bytes: 1, sha256: "0".repeat(64) };
  return { run_id, status: "complete", folder: runFolderOf(held.head(), run_id), manifest };
}

/** The change of a head that lists a run. */
const adding = (run: BucketRun) => (head: Head) => withRun(head, run);

async function headOf(bucket: Bucket): Promise<Head> {
  return headFrom((await bucket.read("head.json"))?.bytes ?? Buffer.alloc(0), bucket.url);
}

/** A store in which all objects are this old, as if its clock were ahead. */
const agedBy = (bucket: Bucket, age: number): Bucket => ({
  ...bucket,
  read: async (key) => {
    const found = await bucket.read(key);
    return found && { ...found, age: found.age + age };
  },
});

describe.skipIf(!hasS3)("holding a job in a bucket", () => {
  let store: TestStore;
  let count = 0;
  beforeAll(async () => {
    store = await startMoto();
    await store.makeBucket("kb-dumps");
  });
  afterAll(() => store.stop());
  const newPlace = (env = store.env) => openAt({ env }, `s3://kb-dumps/job-${++count}`);

  test("lists runs, names the newest complete one, drops them, and lets go", async () => {
    const bucket = await newPlace();
    const first = await leased(bucket);
    await first.change(adding(runOf(first, 1)));
    await first.change(adding({ ...runOf(first, 2), status: "partial" }));
    await first.change(adding(runOf(first, 1)));
    const head = await headOf(bucket);
    expect(head).toEqual(first.head());
    expect(head).toMatchObject({ epoch: 1, latest: "20261121T020000123Z", owner: { pid: process.pid } });
    expect(head.runs.map(({ run_id }) => run_id)).toEqual(["20261121T020000123Z", "20261122T020000123Z"]);
    await expect(leaseInBucket(bucket, still)).rejects.toThrow(
      /^another run of this job is active: process \d+ on \S+ since 2026-11-20T02:00:00.000Z. Its last heartbeat was \d s ago; without another one, its hold is taken over in 1\d\d s. Wait/,
    );
    await expect(leaseInBucket(bucket, still)).rejects.toBeInstanceOf(BusyError);
    await first.release();
    const second = await leased(bucket);
    await second.change((head) => withoutRun(head, "20261121T020000123Z"));
    expect(await headOf(bucket)).toMatchObject({ epoch: 2, latest: null, runs: [{ run_id: "20261122T020000123Z" }] });
  });

  test("one of 20 wins a free job, and one of 20 that of a dead owner", async () => {
    const bucket = await newPlace();
    for (const age of [0, 120_000]) {
      const places = atOnce(bucket, 20, age);
      const results = await Promise.allSettled(places.map((place) => leaseInBucket(place, still)));
      const won = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
      const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
      expect(won.length).toBe(1);
      for (const error of refused) expect(error).toBeInstanceOf(BusyError);
      expect((await headOf(bucket)).owner?.id).toBe(won[0]?.head().owner?.id);
    }
    expect((await headOf(bucket)).epoch).toBe(2);
  });

  /** Buckets whose first answers look `age` old, and arrive only when all of them have read the same state. */
  function atOnce(bucket: Bucket, places: number, age: number): readonly Bucket[] {
    let waiting = places;
    let go = () => {};
    const all = new Promise<void>((resolve) => {
      go = resolve;
    });
    return Array.from({ length: places }, () => {
      let isFirst = true;
      const read: Bucket["read"] = async (key) => {
        const found = await (isFirst ? agedBy(bucket, age) : bucket).read(key);
        if (isFirst && --waiting === 0) go();
        isFirst = false;
        await all;
        return found;
      };
      return { ...bucket, read };
    });
  }

  test("one of 20 changes of one head wins", async () => {
    const bucket = await newPlace();
    const written = await bucket.put("head.json", bytesOfHead(emptyHead), "absent");
    if (written === "refused") return expect.fail("the head was there");
    const changes = Array.from({ length: 20 }, (_, beat) =>
      bucket.put("head.json", bytesOfHead({ ...emptyHead, beat: beat + 1 }), written),
    );
    const results = await Promise.all(changes);
    expect(results.filter((result) => result !== "refused").length).toBe(1);
    expect((await headOf(bucket)).beat).toBe(results.findIndex((result) => result !== "refused") + 1);
  });

  test("a holder that was frozen can change nothing once another took over", async () => {
    const bucket = await newPlace();
    const frozen = await leased(bucket);
    await frozen.change(adding(runOf(frozen, 1)));
    const next = await leased(agedBy(bucket, 120_000));
    const before = await headOf(bucket);
    expect(next.head().epoch).toBe(frozen.head().epoch + 1);
    await expect(frozen.change(adding(runOf(frozen, 2)))).rejects.toThrow(
      /^this job was taken over by process \d+ on /,
    );
    expect(frozen.lost.aborted).toBe(true);
    expect(frozen.lost.reason).toBeInstanceOf(LostError);
    await expect(frozen.change((head) => withoutRun(head, "20261121T020000123Z"))).rejects.toBeInstanceOf(LostError);
    await frozen.release();
    expect(await headOf(bucket)).toEqual(before);
    await next.change(adding(runOf(next, 2)));
  });

  test.each(["change", "release"] as const)(
    "%s of a frozen holder that does not know yet changes nothing",
    async (how) => {
      const bucket = await newPlace();
      const frozen = await leased(bucket);
      await frozen.change(adding(runOf(frozen, 1)));
      await leased(agedBy(bucket, 120_000));
      const before = await headOf(bucket);
      if (how === "release") await frozen.release();
      else
        await expect(frozen.change((head) => withoutRun(head, "20261121T020000123Z"))).rejects.toBeInstanceOf(
          LostError,
        );
      expect(frozen.lost.aborted).toBe(true);
      expect(await headOf(bucket)).toEqual(before);
    },
  );

  test.each(["removed", "replaced by an earlier version"])(
    "a head that was %s is refused, so that no run counts as left behind",
    async (how) => {
      const bucket = await newPlace();
      const earlier = await leased(bucket);
      await earlier.release();
      const old = bytesOfHead(earlier.head());
      const last = await leased(bucket);
      const run = runOf(last, 1);
      await bucket.put(`${run.folder}/manifest.json`, Buffer.from("{}"));
      await last.change(adding(run));
      await last.release();
      if (how === "removed") await bucket.remove(["head.json"]);
      else await bucket.put("head.json", old);
      for (let tries = 0; tries < 3; tries++)
        await expect(leaseInBucket(bucket, still)).rejects.toThrow(
          `${bucket.url}/head.json was removed or replaced by hand: ${bucket.url}/${run.folder} is newer. `,
        );
      await bucket.put("head.json", bytesOfHead(last.head()));
      expect((await leased(bucket)).head().runs).toEqual([run]);
    },
  );

  test("signs of life raise the beat, and find out that another took over", async () => {
    const bucket = await newPlace();
    const first = await leased(bucket, { every: 300 });
    await expect.poll(async () => (await headOf(bucket)).beat, patient).toBeGreaterThan(3);
    await first.change(adding(runOf(first, 1)));
    await expect
      .poll(
        () =>
          leaseInBucket(agedBy(bucket, 120_000), still).then(
            () => true,
            () => false,
          ),
        patient, // each try needs time between two heartbeats
      )
      .toBe(true);
    await expect.poll(() => first.lost.aborted, patient).toBe(true);
    expect((await headOf(bucket)).runs.length).toBe(1);
  });

  test("a head that disappears or is replaced ends the hold", async () => {
    const bucket = await newPlace();
    const held = await leased(bucket);
    await bucket.remove(["head.json"]);
    await expect(held.change(adding(runOf(held, 1)))).rejects.toThrow("was removed or replaced");
    expect(await bucket.read("head.json")).toBeUndefined();
    const next = await leased(bucket);
    await bucket.put("head.json", bytesOfHead({ ...next.head(), epoch: 7 }));
    await expect(next.change(adding(runOf(next, 1)))).rejects.toBeInstanceOf(LostError);
    expect((await headOf(bucket)).runs).toEqual([]);
  });

  test("takeover, heartbeat and release keep the runs, and members that a newer version added", async () => {
    const bucket = await newPlace();
    const first = await leased(bucket);
    await first.change((head) => ({ ...withRun(head, runOf(first, 1)), more: [1] }));
    await first.release();
    const second = await leased(bucket);
    await second.change((head) => head);
    await second.release();
    const { runs, latest } = first.head();
    expect(await headOf(bucket)).toMatchObject({ more: [1], epoch: 2, runs, latest, owner: { released: true } });
  });

  test.each([1, 2])("a lost answer is settled: takeover, commit and release, cut %i times", async (times) => {
    const proxy = await startCuttingProxy(store.port);
    const [direct, bucket] = [await newPlace(), await openAt({ env: envFor(proxy.url) }, `s3://kb-dumps/job-${count}`)];
    proxy.cutAnswers("PUT", times);
    const held = await leased(bucket);
    expect((await headOf(direct)).epoch).toBe(1);
    proxy.cutAnswers("PUT", times);
    await held.change(adding(runOf(held, 1)));
    expect(await headOf(direct)).toEqual(held.head());
    expect(held.head().runs.length).toBe(1);
    proxy.cutAnswers("PUT", times);
    await held.release();
    expect((await headOf(direct)).owner?.released).toBe(true);
    expect(proxy.cuts()).toBe(3 * times);
    expect(held.lost.aborted).toBe(false);
  });

  test("a commit whose three answers are all lost is settled by reading", async () => {
    const proxy = await startCuttingProxy(store.port);
    const bucket = await openAt({ env: envFor(proxy.url) }, `s3://kb-dumps/job-${++count}`);
    const held = await leased(bucket);
    proxy.cutAnswers("PUT", 3);
    await held.change(adding(runOf(held, 1)));
    expect(proxy.cuts()).toBe(3);
    expect((await headOf(bucket)).runs.length).toBe(1);
  });

  test("cleaning up removes what earlier owners left, and nothing else", async () => {
    const bucket = await newPlace();
    const first = await leased(bucket);
    const listed = runOf(first, 1);
    for (const folder of [listed.folder, runFolderOf(first.head(), "20261122T020000123Z")])
      await bucket.put(`${folder}/a`, Buffer.from("a"));
    await bucket.put("runs/notes.txt", Buffer.from("of somebody else"));
    await first.change(adding(listed));
    const second = await leased(agedBy(bucket, 120_000));
    await bucket.put(`${runFolderOf(second.head(), "20261123T020000123Z")}/a`, Buffer.from("a"));
    const all = await keysBelow(bucket, "runs/");
    await cleanUpBucket(bucket, first.head());
    expect(await keysBelow(bucket, "runs/")).toEqual(all);
    await cleanUpBucket(bucket, second.head());
    const left = [`${listed.folder}/a`, `${runFolderOf(second.head(), "20261123T020000123Z")}/a`, "runs/notes.txt"];
    expect(await keysBelow(bucket, "runs/")).toEqual(left);
  });

  test("conditions are honoured here, and the scratch object is gone", async () => {
    const bucket = await newPlace();
    expect(await tryConditions(bucket)).toBeUndefined();
    expect(await keysBelow(bucket, "")).toEqual([]);
  });
});

describe.skipIf(!hasS3).each(faultyStores)("a store that ignores conditions: $name", ({ start }) => {
  let store: TestStore;
  beforeAll(async () => {
    store = await start();
    await store.makeBucket("kb-dumps");
  });
  afterAll(() => store.stop());

  test("is found out", async () => {
    const bucket = await openAt(store, "s3://kb-dumps/job");
    expect(await tryConditions(bucket)).toMatch(/^the store ignores If-None-Match: it replaced/);
    expect(await keysBelow(bucket, "")).toEqual([]);
  });
});
