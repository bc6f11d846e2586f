import fc from "fast-check";
import { expect, test } from "vitest";
import { fileName } from "../../../src/dump/formats/format.js";
import { partsOfName } from "../../../src/dump/formats/parse-file-name.js";

const none = { kind: "chunks", format: "parquet", compression: "none" } as const;

test.each([
  ["0b7f9d1e-52ab-4c3d-9e8f-0a1b2c3d4e5f", "0b7f9d1e-52ab-4c3d-9e8f-0a1b2c3d4e5f"],
  ["a/b\\c", "a%2Fb%5Cc"],
  ["..", ".."],
  ["a=b%20\n", "a%3Db%2520%0A"],
  ["Wörter 漢字", "Wörter%20漢字"],
])("the folder of dataset %j is named as Hive does it", (dataset, name) => {
  const path = `chunks.parquet/dataset_id=${name}/part-0.parquet`;
  expect(fileName({ ...none, dataset })).toBe(path);
  expect(partsOfName(path)).toEqual({ ...none, dataset });
});

test("every name can be decoded into its parts and never leaves the folder", () => {
  const segments = fc.record({
    kind: fc.constantFrom("chunks", "child_chunks"),
    format: fc.constantFrom("jsonl", "csv", "parquet"),
    dataset: fc.option(fc.string({ unit: "binary", minLength: 1 }), { nil: undefined }),
    compression: fc.constantFrom("none", "gzip", "zstd"),
  });
  fc.assert(
    fc.property(segments, (named) => {
      const path = fileName(named);
      expect(partsOfName(path)).toEqual(named);
      expect(path.split("/")).toHaveLength(named.dataset === undefined ? 1 : 3);
      expect(path.split("/")).not.toContain("..");
    }),
  );
});

test.each([
  "chunks.parquet/dataset_id=/part-0.parquet",
  "chunks.parquet/dataset_id=a/part-1.parquet",
  "chunks.parquet/dataset_id=a/part-0.csv",
  "chunks.parquet/dataset_id=a%2fb/part-0.parquet",
  "chunks.parquet/dataset_id=a b/part-0.parquet",
  "chunks.parquet/dataset_id=a/../part-0.parquet",
  "chunks.parquet/dataset_id=%/part-0.parquet",
  "../chunks.parquet",
])("%s is no name of a file of a dump", (path) => {
  expect(partsOfName(path)).toBeUndefined();
});
