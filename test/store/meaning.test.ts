import { expect, test } from "vitest";
import { type Found, type Meaning, meaningOf, type Sights, wordFrom } from "../../src/store/find-named.js";

const nothing: Sights = { whole: "nothing", before: "nothing", job: "nothing" };
const whole = (found: Found): Sights => ({ ...nothing, whole: found });
const unknown: Meaning = { kind: "unknown" };

test.each<[string, Sights, Meaning]>([
  ["output/nightly/latest", whole("run"), { kind: "run folder", folder: "output/nightly/latest" }],
  ["output/nightly", whole("job"), { kind: "job folder", folder: "output/nightly" }],
  ["jobs/nightly.yaml", whole("job file"), { kind: "job file", file: "jobs/nightly.yaml" }],
  ["nightly.JSON", whole("job file"), { kind: "job file", file: "nightly.JSON" }],
  ["nightly.duckdb", whole("database"), { kind: "database", file: "nightly.duckdb" }],
  ["nightly", { ...nothing, job: "job" }, { kind: "job", name: "nightly" }],
  ["nightly", { ...whole("run"), job: "job" }, { kind: "run folder", folder: "nightly" }],
  ["nightly", { ...whole("job"), job: "job" }, { kind: "job folder", folder: "nightly" }],
  ["nightly", { ...whole("folder"), job: "job" }, { kind: "job", name: "nightly" }],
  ["nightly", { ...whole("other"), job: "job" }, { kind: "job", name: "nightly" }],
  ["nightly", { ...whole("begun"), job: "job" }, { kind: "job", name: "nightly" }],
  ["nightly", whole("begun"), { kind: "job folder", folder: "nightly" }],
  ["nightly", { ...nothing, job: "begun" }, { kind: "job", name: "nightly" }],
  ["nightly", { ...nothing, job: "folder" }, unknown],
  ["Nightly", { ...nothing, job: "job" }, unknown],
  ["output/backup", whole("folder"), unknown],
  ["nightly@20261120", { ...nothing, job: "job" }, { kind: "job", name: "nightly", run: "20261120" }],
  [
    "n.yaml@20261120T020000123Z",
    { ...nothing, before: "job file" },
    { kind: "job file", file: "n.yaml", run: "20261120T020000123Z" },
  ],
  ["out/n@20261120T02", { ...nothing, before: "job" }, { kind: "job folder", folder: "out/n", run: "20261120T02" }],
  ["out/run@20261120", { ...nothing, before: "run" }, unknown],
  ["a.duckdb@20261120", { ...nothing, before: "database" }, unknown],
  ["n@20261120.yaml", whole("job file"), { kind: "job file", file: "n@20261120.yaml" }],
  ["n@20261120", { ...whole("run"), job: "job" }, { kind: "run folder", folder: "n@20261120" }],
])("%s, %o", (text, sights, meaning) => {
  expect(meaningOf(wordFrom(text), sights)).toEqual(meaning);
});

test.each(["nightly@2026", "nightly@latest", "nightly@", "@20261120"])("%s names no run behind an @", (text) => {
  expect(wordFrom(text)).toEqual({ text, before: text, run: undefined });
});
