import fc from "fast-check";
import { expect, test } from "vitest";
import { runIdFrom } from "../../../src/dump/run-id.js";
import {
  type BucketOwner,
  type BucketRun,
  bytesOfHead,
  emptyHead,
  folderOfKey,
  type Head,
  headFrom,
  mayTakeOver,
  runFolderOf,
  withoutRun,
  withRun,
} from "../../../src/store/bucket/head.js";
import { deadAfter } from "../../../src/store/folder/lock-owner.js";

const url = "s3://kb-dumps/head.json";
const sha256 = "0".repeat(64);

const holders: fc.Arbitrary<BucketOwner> = fc.record({
  id: fc.uuid(),
  host: fc.string(),
  pid: fc.integer({ min: 1 }),
  since: fc.constant("2026-11-20T02:00:00.000Z"),
  born: fc.constant(null),
  space: fc.constant(null),
  boot: fc.constant(null),
  released: fc.boolean(),
});
const runs: fc.Arbitrary<BucketRun> = fc.record({
  run_id: fc.date({ min: new Date(0), max: new Date("2099-01-01"), noInvalidDate: true }).map(runIdFrom),
  status: fc.constantFrom("complete" as const, "partial" as const),
  folder: fc.constant("runs/20261120T020000123Z.1-0a1b2c3d"),
  manifest: fc.record({ bytes: fc.nat(), sha256: fc.constant(sha256) }),
});
/** A head that resulted only from these decisions. */
const heads: fc.Arbitrary<Head> = fc
  .array(
    fc.oneof(
      holders.map((owner) => (head: Head) => ({ ...head, epoch: head.epoch + 1, owner })),
      runs.map((run) => (head: Head) => withRun(head, run)),
    ),
    { maxLength: 8 },
  )
  .map((steps) => steps.reduce((head, step) => step(head), emptyHead));

test("a head is read back as it was written, with members of a newer version wherever they are", () => {
  fc.assert(
    fc.property(heads, holders, (head, owner) => {
      const newer = {
        ...head,
        more: [1],
        owner: { ...owner, more: 2 },
        runs: head.runs.map((run) => ({ ...run, more: 3, manifest: { ...run.manifest, more: 4 } })),
      };
      const read = headFrom(bytesOfHead(newer), url);
      expect(read).toEqual(newer);
      expect(withoutRun(read, extraRun.run_id)).toEqual(newer);
      expect(withRun(read, extraRun)).toMatchObject({ more: [1], owner: { more: 2 } });
    }),
  );
});

const extraRun: BucketRun = {
  run_id: "20991120T020000123Z",
  status: "complete",
  folder: "runs/20991120T020000123Z.7-0a1b2c3d",
  manifest: { bytes: 1, sha256 },
};

test("a head may be taken over once it is released, has no holder, or did not change for two minutes", () => {
  fc.assert(
    fc.property(heads, fc.nat(2 * deadAfter), (head, age) => {
      const isHeld = head.owner !== null && !head.owner.released;
      expect(mayTakeOver(head, age)).toBe(!isHeld || age >= 120_000);
    }),
  );
});

test("each run is listed once, sorted by id; latest is the newest remaining complete one", () => {
  fc.assert(
    fc.property(fc.array(runs, { maxLength: 6 }), fc.nat(6), (some, cut) => {
      const all = some.reduce(withRun, emptyHead);
      const ids = all.runs.map(({ run_id }) => run_id);
      expect(ids).toEqual([...new Set(some.map(({ run_id }) => run_id))].sort());
      expect(withRun(all, { ...extraRun, status: "partial" }).latest).toBe(all.latest);
      expect(withRun(all, extraRun).latest).toBe(extraRun.run_id);
      const left = ids.slice(cut).reduce(withoutRun, all);
      expect(left.runs).toEqual(all.runs.slice(0, cut));
      const named = left.runs.find(({ run_id }) => run_id === left.latest);
      expect(left.latest === null || named !== undefined).toBe(true);
      for (const run of some) expect(withRun(withRun(all, run), run)).toEqual(withRun(all, run));
    }),
  );
});

test("the folder of a run names its holder, and is found again in each of its keys", () => {
  fc.assert(
    fc.property(runs, fc.nat(), holders, ({ run_id }, epoch, owner) => {
      const folder = runFolderOf({ ...emptyHead, epoch, owner }, run_id);
      expect(folderOfKey(`${folder}/chunks.jsonl`)).toEqual({ folder, epoch });
      expect(folderOfKey(folder)).toBeUndefined();
    }),
  );
  const rest = { host: "h", pid: 1, since: "", born: null, space: null, boot: null, released: false };
  const owner = { id: "0a1b2c3d-4e5f", ...rest };
  expect(runFolderOf({ ...emptyHead, epoch: 3, owner }, "20261120T020000123Z")).toBe(
    "runs/20261120T020000123Z.3-0a1b2c3d",
  );
  for (const key of ["head.json", "runs/a/b", "x/runs/20261120T020000123Z.3-0a1b2c3d/b", "runs/20261120T020000123Z/b"])
    expect(folderOfKey(key)).toBeUndefined();
});

const listed = { ...emptyHead, runs: [extraRun] };
test.each([
  ["{", "is not JSON"],
  ["[]", "got [], expected an object"],
  [{ ...emptyHead, format: 2 }, "was written by a newer version of kbdump (format 2)"],
  [{ ...emptyHead, epoch: -1 }, "epoch: got -1, expected a whole number"],
  [{ ...emptyHead, runs: undefined }, "runs: got nothing, expected a list"],
  [{ ...listed, runs: [{ ...extraRun, folder: "runs/../../other" }] }, "runs[0].folder: got"],
  [{ ...listed, runs: [{ ...extraRun, run_id: "../x" }] }, "runs[0].run_id: got"],
  [{ ...listed, latest: "../../x" }, "latest: got"],
])("a head that cannot be used says why: %j", (value, message) => {
  const bytes = Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
  expect(() => headFrom(bytes, url)).toThrow(`${url} `);
  expect(() => headFrom(bytes, url)).toThrow(message);
});
