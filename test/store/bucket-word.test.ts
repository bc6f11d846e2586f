import { expect, test } from "vitest";
import { outputLocation } from "../../src/job/job.js";
import { findLocally } from "../../src/store/find-named.js";

const job = "s3://dumps/team/nightly";
const run = "20261120T020000123Z";
const at = (dir: string) => ({ name: "nightly", output: { ...outputLocation(dir), keep: undefined } });
const nightly = (run?: string) => ({ kind: "job", location: at("s3://dumps/team"), run });

test.each([
  [job, nightly()],
  [`${job}/`, nightly()],
  ["s3://dumps/nightly", { ...nightly(), location: at("s3://dumps") }],
  [`${job}@20261120`, nightly("20261120")],
  [`${job}@${run}`, nightly(run)],
  [`${job}/runs/${run}`, nightly(run)],
  [`${job}/runs/${run}/`, nightly(run)],
  [`${job}/runs/${run}.3-0a1b2c3d`, { ...nightly(run), folder: `runs/${run}.3-0a1b2c3d` }],
  [`${job}/nightly.duckdb`, { kind: "database", file: `${job}/nightly.duckdb` }],
  [`${job}/nightly.duckdb/`, { kind: "database", file: `${job}/nightly.duckdb` }],
])("%s", async (text, thing) => {
  expect(await findLocally(text, { env: {} })).toEqual(thing);
});

test.each([
  "s3://dumps",
  "s3://dumps/",
  "s3://dumps/team/Nightly",
  `${job}/runs/20261332T020000123Z`,
  `${job}/other.duckdb`,
  `${job}/manifest.json`,
  `${job}@2026`,
])("%s is no job", async (text) => {
  await expect(findLocally(text, { env: {} })).rejects.toThrow(
    "expected a job in a bucket, s3://bucket/prefix/<job>, or a run of it",
  );
});

test.each(["s3:/dumps/a", "s3://d/a", "s3://dumps//a", "S3://dumps/a"])("%s is no address", async (text) => {
  await expect(findLocally(text, { env: {} })).rejects.toThrow("is not a bucket address");
});
