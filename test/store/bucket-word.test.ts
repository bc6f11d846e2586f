import { expect, test } from "vitest";
import { bucketWordFrom } from "../../src/store/find-named.js";

const job = "s3://dumps/team/nightly";
const run = "20261120T020000123Z";

test.each([
  [job, { url: job }],
  [`${job}/`, { url: job }],
  ["s3://dumps/nightly", { url: "s3://dumps/nightly" }],
  [`${job}@20261120`, { url: job, run: "20261120" }],
  [`${job}@${run}`, { url: job, run }],
  [`${job}/runs/${run}`, { url: job, run }],
  [`${job}/runs/${run}/`, { url: job, run }],
  [`${job}/runs/${run}.3-0a1b2c3d`, { url: job, run, folder: `runs/${run}.3-0a1b2c3d` }],
  [`${job}/nightly.duckdb`, { url: job, isDatabase: true }],
])("%s", (text, word) => {
  expect(bucketWordFrom(text)).toEqual(word);
});

test.each([
  "s3://dumps",
  "s3://dumps/",
  "s3://dumps/team/Nightly",
  `${job}/runs/20261332T020000123Z`,
  `${job}/other.duckdb`,
  `${job}/manifest.json`,
  `${job}@2026`,
])("%s is no job", (text) => {
  expect(() => bucketWordFrom(text)).toThrow("expected a job in a bucket, s3://bucket/prefix/<job>, or a run of it");
});

test.each(["s3:/dumps/a", "s3://d/a", "s3://dumps//a", "S3://dumps/a"])("%s is no address", (text) => {
  expect(() => bucketWordFrom(text)).toThrow("is not a bucket address");
});
