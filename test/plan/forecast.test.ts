import { expect, test } from "vitest";
import type { Job } from "../../src/job/job.js";
import {
  countDetailed,
  type DocumentForecast,
  diskNeeds,
  type ForecastBasis,
  forecastDocument,
} from "../../src/plan/forecast.js";
import type { DocumentSample, DocumentSurvey } from "../../src/plan/survey.js";

const sample: DocumentSample = {
  pageRows: 100,
  chunks: 100,
  repeats: false,
  evidence: { docForm: "text_model", chunks: 100, embedding: 0, doubt: null, spread: [], largest: null },
  anchor: "settled",
  embedding: "absent",
  children: [0, 1, 100, 250],
  childPageRows: 100,
  attachments: 10,
  edited: false,
  chunkBytes: 500,
  childBytes: 100,
};

const survey = (total: number, more: Partial<DocumentSurvey> = {}): DocumentSurvey => ({
  ref: { datasetId: "d", documentId: "x", status: [], keyword: undefined },
  total,
  docForm: "text_model",
  error: null,
  lacksLists: false,
  sample,
  ...more,
});

function forecast(one: DocumentSurvey, job: Partial<ForecastBasis["job"]> = {}): DocumentForecast {
  const whole = { childChunks: "all", consistency: "sweeps", originals: false, ...job } as const;
  return forecastDocument(one, { job: whole, sizes: { chunks: 100, children: 100 }, like: () => sample });
}

test("pages are read once, twice, or once with one to three single rows", () => {
  const pages = (consistency: Job["consistency"], more = {}) =>
    [0, 99, 100, 101, 200, 250].map((total) => forecast(survey(total, more), { consistency }).pages);
  expect(pages("counts")).toEqual([1, 1, 1, 2, 2, 3]);
  expect(pages("sweeps")).toEqual([1, 1, 2, 4, 4, 6]);
  expect(pages("anchored")).toEqual([1, 1, 2, 3, 4, 5]);
  expect(pages("anchored", { sample: { ...sample, anchor: "young" } })).toEqual([1, 1, 2, 4, 5, 7]);
  expect(pages("anchored", { sample: { ...sample, anchor: "none" } })).toEqual(pages("sweeps"));
  const ref = { datasetId: "d", documentId: "x", status: ["completed"], keyword: undefined };
  expect(pages("anchored", { ref })).toEqual(pages("sweeps"));
});

test("an empty child list needs one request, a long one several, and full pages are read twice", () => {
  expect(forecast(survey(4)).lists).toEqual({ all: 1 + 1 + 2 + 6, auto: 10, none: 0 });
  expect(forecast(survey(4), { consistency: "counts" }).lists.all).toBe(1 + 1 + 1 + 3);
  expect(forecast(survey(400)).lists.all).toBe(1000);
  expect(forecast(survey(4, { sample: { ...sample, embedding: "agrees" } })).lists.all).toBe(1 + 1 + 1 + 3);
  expect(forecast(survey(0)).lists).toEqual({ all: 0, auto: 0, none: 0 });
});

test("rows, attachments and bytes come from the sample, or from a similar one", () => {
  const own = forecast(survey(200), { originals: true });
  expect(own).toMatchObject({ children: 50 * 351, attachments: 2 * 20, bytes: 400 + 200 * 500 + 50 * 351 * 100 });
  expect(forecast(survey(200, { sample: undefined }), { originals: true })).toEqual(own);
  expect(forecast(survey(200), { childChunks: "none" }).bytes).toBe(400 + 200 * 500);
});

test("a document that cannot be read costs a request, and one whose lists cannot be read a list more", () => {
  expect(forecast(survey(0, { total: null, error: "gone" }))).toMatchObject({ pages: 1, lists: { all: 0 } });
  expect(forecast(survey(5, { error: "no lists", sample: undefined }))).toMatchObject({ pages: 1, lists: { all: 1 } });
});

test("disk: files once, twice while they are joined, and a database with a copy of the old one", () => {
  const needs = (formats: Job["output"]["formats"], before = 0, compress: Job["output"]["compress"] = "none") =>
    diskNeeds({ formats, compress }, 1_000, before);
  expect(needs(["jsonl"])).toEqual({ needed_bytes: 2_000, run_folder_bytes: 1_000, database_bytes: 0 });
  expect(needs(["jsonl", "csv"])).toMatchObject({ needed_bytes: 2 * 1_800, run_folder_bytes: 1_800 });
  expect(needs(["csv"])).toMatchObject({ needed_bytes: 1_800 + 800 + 1_000, run_folder_bytes: 800 });
  const [fresh, later] = [needs(["duckdb"]), needs(["duckdb"], 50_000_000)];
  expect(fresh.run_folder_bytes).toBe(0);
  const compressed = needs(["jsonl", "csv", "parquet"], 0, "gzip"); // segments are not compressed, and Parquet already is
  expect(compressed).toMatchObject({ needed_bytes: 1_800 + 900 + 400, run_folder_bytes: 900 + 400 });
  expect(needs(["csv"], 0, "gzip")).toMatchObject({ needed_bytes: 1_800 + 400 + 1_000, run_folder_bytes: 400 });
  expect(later.needed_bytes - fresh.needed_bytes).toBe(50_000_000 - fresh.database_bytes + 50_000_000);
});

test("details: auto counts the documents that look edited in the sample, and as large a part of the others", () => {
  const edited = { sample: { ...sample, edited: true } };
  const surveys = [
    ...[survey(900, edited), survey(800), survey(700), survey(600)],
    ...Array.from({ length: 8 }, () => survey(5, { sample: undefined })),
    ...[survey(0, { sample: undefined }), survey(0, { total: null, sample: undefined, error: "gone" })],
  ];
  expect((["auto", true, false] as const).map((details) => countDetailed(surveys, details))).toEqual([3, 14, 0]);
  expect(countDetailed([survey(5, { sample: undefined })], "auto")).toBe(0);
});
