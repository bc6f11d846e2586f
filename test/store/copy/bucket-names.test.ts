import { homedir } from "node:os";
import { expect, test } from "vitest";
import { StopError, UsageError } from "../../../src/errors.js";
import { bucketNames, withBucketNames } from "../../../src/store/copy/bucket-names.js";
import { cacheFrom, folderInCache } from "../../../src/store/copy/cache.js";

const env = { KBDUMP_CACHE: "/var/my cache (1)/kb" };
const names = bucketNames(env);
const copies = "/var/my cache (1)/kb/s3";
const run = "20261120T020000123Z";

test("paths of copies are shown as the addresses of what was copied, and no other text changes", () => {
  expect(names(`${copies}/dumps/team/nightly/runs/${run} is not sound:\n  x`)).toBe(
    `s3://dumps/team/nightly/runs/${run} is not sound:\n  x`,
  );
  expect(names(`{"folder":"${copies}/dumps/nightly","a":1}`)).toBe('{"folder":"s3://dumps/nightly","a":1}');
  const aside = "0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f";
  expect(names(`${copies}/dumps/nightly/.copy/${aside}/${run}/chunks.jsonl`)).toBe(
    `s3://dumps/nightly/runs/${run}/chunks.jsonl`,
  );
  for (const text of [
    "/var/my cache (1)/kb is full",
    "output/nightly",
    `${copies}/d/n/runs/${run}.restore/journal.jsonl`,
  ])
    expect(names(text)).toBe(text);
});

test("an error is named in all of its parts", () => {
  const problems = [{ path: `${copies}/dumps/nightly`, message: "no run" }];
  expect(withBucketNames(new UsageError("No such run:", problems), names)).toMatchObject({
    message: "No such run:\n  s3://dumps/nightly: no run",
    problems: [{ path: "s3://dumps/nightly", message: "no run" }],
  });
  const failed = Object.assign(new Error("EACCES"), { code: "EACCES", path: `${copies}/dumps/nightly/nightly.duckdb` });
  expect(withBucketNames(failed, names)).toMatchObject({ path: "s3://dumps/nightly/nightly.duckdb" });
  expect(withBucketNames(new StopError("a"), names)).toBeInstanceOf(StopError);
});

test("the environment places the cache, and bounds it", () => {
  expect(cacheFrom({ KBDUMP_CACHE: "/a", XDG_CACHE_HOME: "/b", KBDUMP_CACHE_SIZE: "1.5 gb" })).toEqual({
    root: "/a",
    most: 1_500_000_000,
  });
  expect(cacheFrom({ XDG_CACHE_HOME: "/b", HOME: "/c" })).toEqual({ root: "/b/kbdump", most: 20_000_000_000 });
  expect(cacheFrom({ HOME: "/c", XDG_CACHE_HOME: "" }).root).toBe("/c/.cache/kbdump");
  const homeless = () => undefined;
  expect(() => cacheFrom({}, homeless)).toThrow(
    "This user has no home folder to keep copies of buckets in: set KBDUMP_CACHE",
  );
  expect(cacheFrom({ KBDUMP_CACHE: "/a" }, homeless).root).toBe("/a");
  expect(bucketNames({}, homeless)("/var/s3/dumps")).toBe("/var/s3/dumps");
  expect(cacheFrom({}).root).toBe(`${homedir()}/.cache/kbdump`);
  for (const size of ["20", "20 MiB", "-1GB", "much"])
    expect(() => cacheFrom({ KBDUMP_CACHE_SIZE: size })).toThrow(
      `KBDUMP_CACHE_SIZE is "${size}"; expected a size such as 500MB or 20GB`,
    );
  expect(folderInCache(cacheFrom({ KBDUMP_CACHE: "/a" }), "s3://dumps/x/y/nightly")).toBe("/a/s3/dumps/x/y/nightly");
});
