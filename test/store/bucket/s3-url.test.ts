import fc from "fast-check";
import { expect, test } from "vitest";
import { UsageError } from "../../../src/errors.js";
import { brokenRule, isBucketUrl, prefixFromUrl, urlOfPrefix, wholeKey } from "../../../src/job/s3-url.js";

const bucket = fc.stringMatching(/^[a-z0-9][a-z0-9-]{1,30}[a-z0-9]$/);
const name = fc.stringMatching(/^[A-Za-z0-9._=+@-]{1,20}$/).filter((text) => text !== "." && text !== "..");
const names = fc.array(name, { maxLength: 5 });

test("an address can be parsed back, with or without a slash at the end", () => {
  fc.assert(
    fc.property(bucket, names, (ofBucket, ofPrefix) => {
      const place = { bucket: ofBucket, prefix: ofPrefix.join("/") };
      const url = urlOfPrefix(place);
      expect(prefixFromUrl(url)).toEqual(place);
      expect(prefixFromUrl(`${url}/`)).toEqual(place);
      expect(isBucketUrl(url)).toBe(true);
    }),
  );
});

test("any text is a place that names itself, or a UsageError", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(fc.constantFrom("s3://", "kb1", "/", "..", "a?b", "#", " ")).map((some) => some.join("")),
  );
  fc.assert(
    fc.property(text, (url) => {
      try {
        expect(urlOfPrefix(prefixFromUrl(url))).toBe(url.replace(/\/$/, ""));
      } catch (error) {
        expect(error).toBeInstanceOf(UsageError);
      }
    }),
    { numRuns: 200 },
  );
});

test.each([
  "s3://",
  "s3://ab",
  "s3:///dumps",
  "s3://Upper/dumps",
  "s3://under_score",
  "s3://two..dots",
  "s3://-hyphen",
  "s3://bucket//dumps",
  "s3://bucket/a/../b",
  "s3://bucket/./b",
  "s3://bucket/a?versionId=1",
  "s3://bucket/a#b",
  "s3://bucket/a b",
  "s3://bucket/dumps//",
  "s3://bucket//",
  "s3://bucket/a\n",
  `s3://bucket/${"a".repeat(513)}`,
  "S3://bucket/a",
  "https://bucket/a",
])("%j is refused with the form that is expected", (url) => {
  expect(() => prefixFromUrl(url)).toThrow("expected s3://bucket/prefix; ");
});

test("keys are below the prefix", () => {
  expect(wholeKey({ bucket: "kb1", prefix: "a/b" }, "head.json")).toBe("a/b/head.json");
  expect(wholeKey({ bucket: "kb1", prefix: "" }, "head.json")).toBe("head.json");
  expect(urlOfPrefix({ bucket: "kb1", prefix: "a" }, "head.json")).toBe("s3://kb1/a/head.json");
  expect(["./s3", "s3:/x", "/s3://"].map(isBucketUrl)).toEqual([false, true, false]);
});

test.each(["S3://bucket/a", "s3:/bucket/a", "s3:bucket/a"])("%s is refused with the beginning that it lacks", (url) => {
  expect(brokenRule(url)).toBe("it begins with s3://, in lower case");
});
