import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Discovery } from "../../../src/crawl/discovery.js";
import {
  documentListFrom,
  documentListFromText,
  documentListText,
  readGivenList,
  writeGivenList,
} from "../../../src/crawl/document-list-file.js";
import { StopError, UsageError } from "../../../src/errors.js";
import type { Job } from "../../../src/job/job.js";
import { parseJson } from "../../../src/rows/exact-json.js";
import { jobFor, testFolder } from "../../run/job-for.js";

const [a, b, c] = ["a", "b", "c"].map((digit) => `7f0c9d1e-52ab-4c3d-9e8f-0a1b2c3d4e5${digit}`) as [
  string,
  string,
  string,
];
const base = { service: { base_url: "https://kb.example.com/v1" } };
const named = { ...base, datasets: [{ id: a, documents: [b, c], batches: ["2025"] }] };
const listed = {
  ...base,
  datasets: [
    { id: a, documents: "all", status: ["completed"] },
    { id: b, documents: [c] },
  ],
};
const every = { ...base, datasets: "all" };

/** The discovery of a job whose dataset a lists document c, then b. */
function discoveryOf({ datasets }: Job): Discovery {
  const rows = [c, b].map((document_id) => ({ dataset_id: a, document_id, tokens: parseJson("12345678901234567890") }));
  const found = { rows, allDatasets: undefined, failures: [], notes: ["a note"], drift: { x: 1 }, pages: 2 };
  const listing = { dataset_id: a, name: "A", state: "listed", documents: 2 } as const;
  if (datasets === "all") {
    const skipped = { dataset_id: b, name: null, state: "skipped", documents: 0 } as const;
    const whole = { id: a, documents: [c, b], batches: [], status: [], keyword: undefined };
    return { datasets: [whole], found: { ...found, allDatasets: true, listings: [listing, skipped] } };
  }
  const known = datasets.map((dataset) => ({
    ...dataset,
    documents: dataset.documents === "all" ? [c, b] : dataset.documents,
  }));
  const isAsked = datasets.some(({ documents }) => documents === "all");
  return { datasets: known, found: isAsked ? { ...found, listings: [listing] } : undefined };
}

const origin = { listedAt: new Date("2026-11-20T02:00:00Z") };

async function written(folder: string, document: Record<string, unknown>) {
  const job = await jobFor(folder, document);
  const path = join(folder, "list.json");
  await writeGivenList(path, discoveryOf(job), { job, ...origin });
  return { job, path };
}

test.each([
  ["named documents", named],
  ["listed and named datasets", listed],
  ["every dataset", every],
])(
  "a list of %s comes back as the discovery that it was made of, and only its owner may read it",
  async (_what, job) => {
    const folder = await testFolder();
    const { path, ...given } = await written(folder, job);
    const { discovery, sha256 } = await readGivenList(path, given.job);
    expect(discovery).toEqual(discoveryOf(given.job));
    expect(sha256).toMatch(/^[0-9a-f]{64}$/);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await readdir(folder)).sort()).toEqual(["job.yaml", "list.json"]);
    const list = documentListFrom(discovery);
    const text = documentListText(list);
    expect(documentListFromText(text)).toEqual({ value: list, problems: null });
    expect(documentListText(documentListFrom(discoveryOf(given.job)))).toBe(text);
  },
);

async function refusalOf(document: Record<string, unknown>, edit: (file: Record<string, unknown>) => void = () => {}) {
  const folder = await testFolder();
  const { path } = await written(folder, listed);
  const file = JSON.parse(await readFile(path, "utf8"));
  edit(file);
  await writeFile(path, JSON.stringify(file));
  return readGivenList(path, await jobFor(folder, document)).then(
    () => [],
    (error: unknown) => {
      expect(error).toBeInstanceOf(UsageError);
      return error instanceof UsageError ? error.problems.map(({ path, message }) => `${path}: ${message}`) : [];
    },
  );
}

test.each([
  ["another name", { ...listed, name: "other" }, ['job: it is of "test", this job is "other"']],
  [
    "another service",
    { ...listed, service: { base_url: "https://other.example.com/v1" } },
    ['base_url: it is of "https://kb.example.com/v1", this job reads "https://other.example.com/v1"'],
  ],
  ["every dataset", every, ["datasets: it has some datasets, but this job reads all"]],
  ["other datasets", named, [`datasets: it is of ${a}, ${b}, this job reads ${a}`]],
  [
    "datasets in another order",
    { ...listed, datasets: listed.datasets.toReversed() },
    [`datasets: it is of ${a}, ${b}, this job reads ${b}, ${a}`],
  ],
  [
    "named in place of listed documents",
    {
      ...listed,
      datasets: [
        { id: a, documents: [c, b] },
        { id: b, documents: [c] },
      ],
    },
    [`datasets: of dataset ${a}, this job reads other documents`],
  ],
  [
    "another named document",
    { ...listed, datasets: [listed.datasets[0], { id: b, documents: [a] }] },
    [`datasets: of dataset ${b}, this job reads other documents`],
  ],
])("a job of %s is refused", async (_what, job, problems) => {
  expect(await refusalOf(job)).toEqual(problems);
});

test("every reason is named at once", async () => {
  const job = { ...every, name: "other", service: { base_url: "https://other.example.com/v1" } };
  const problems = await refusalOf(job, (file) => {
    file.tool = { name: "kbdump", version: "0.0.1" };
    file.rows = [];
  });
  expect(problems.map((problem) => problem.split(":")[0])).toEqual(["job", "base_url", "tool", "datasets", "rows"]);
});

test.each([
  [
    "a document twice",
    (file: Record<string, unknown>) => (file.datasets = [{ ...(file.datasets as object[])[0], documents: [c, c] }]),
  ],
  ["rows in another order", (file: Record<string, unknown>) => (file.rows as object[]).reverse()],
  ["no rows", (file: Record<string, unknown>) => delete file.rows],
])("a list with %s is refused", async (_what, edit) => {
  expect((await refusalOf(listed, edit)).join()).toMatch(/rows: |datasets: /);
});

test.each([
  ["what is not JSON", "{"],
  ["a job file", "name: x"],
  ["another format", '{"format":2}'],
])("%s is refused, and no file is, too", async (_what, text) => {
  const place = await testFolder();
  const path = join(place, "list.json");
  const job = await jobFor(place, listed);
  await expect(readGivenList(path, job)).rejects.toThrow(
    /^cannot read the list of documents .*: there is no such file$/,
  );
  await writeFile(path, text);
  await expect(readGivenList(path, job)).rejects.toThrow(UsageError);
});

test("a list that is not whole, or has no place, is not written", async () => {
  const place = await testFolder();
  const job = await jobFor(place, listed);
  const discovery = discoveryOf(job);
  const failures = ["the list of documents of dataset A changed during every read"];
  const flawed = { ...discovery, found: discovery.found && { ...discovery.found, failures } };
  const path = join(place, "list.json");
  await expect(writeGivenList(path, flawed, { job, ...origin })).rejects.toThrow(
    new StopError(`no list of documents was written, because it would be incomplete: ${failures[0]}`),
  );
  const refused = "the list of documents could not be written to";
  const nowhere = join(place, "gone", "list.json");
  await expect(writeGivenList(nowhere, discovery, { job, ...origin })).rejects.toThrow(
    new StopError(`${refused} ${nowhere}: there is no folder ${join(place, "gone")}`),
  );
  await expect(writeGivenList(place, discovery, { job, ...origin })).rejects.toThrow(
    new StopError(`${refused} ${place}: it is a folder: ${place}`),
  );
  expect(await readdir(place)).toEqual(["job.yaml"]);
});

test("a list that would be longer than a run reads is not written", async () => {
  const place = await testFolder();
  const job = await jobFor(place, every);
  const discovery = discoveryOf(job);
  const { found } = discovery;
  const tooLong = {
    toJSON() {
      throw new RangeError("Invalid string length"); // V8's error, without the time to build such a string
    },
  };
  const long = { ...discovery, found: found && { ...found, rows: [{ dataset_id: a, extra: tooLong }] } };
  await expect(writeGivenList(join(place, "list.json"), long, { job, ...origin })).rejects.toThrow(
    new StopError(
      "no list of documents was written, because it would be longer than 500 MB, the maximum that a run reads, with 2 documents; let every shard ask the service, without --documents-from, or make several jobs",
    ),
  );
  expect(await readdir(place)).toEqual(["job.yaml"]);
});
