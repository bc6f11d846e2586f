import { expect, test } from "vitest";
import {
  countCopy,
  type DatasetPlan,
  type DocumentPlan,
  type EarlierDocument,
} from "../../../src/restore/copy/copy-plan.js";
import { planDataset, planDocument } from "../../../src/restore/copy/plan-copy.js";
import { datasetDetails, documentFacts } from "./documents.js";

const documentOf = (more: Partial<DocumentPlan> = {}): DocumentPlan => ({
  ...planDocument(...documentFacts()),
  ...more,
});
const datasetOf = (documents: readonly DocumentPlan[], more: Partial<DatasetPlan> = {}): DatasetPlan => ({
  ...planDataset(
    { key: "d", details: datasetDetails(), dataset_name: "Handbook" },
    { target: { kind: "new", name: "Handbook" }, there: null },
    documents,
  ),
  ...more,
});
const there = { kind: "there", id: "t", name: "Target" } as const;
const count = (documents: readonly DocumentPlan[], more: Partial<DatasetPlan> = { target: there }) =>
  countCopy({ datasets: [datasetOf(documents, more)] });
const earlier = (state: EarlierDocument["state"]): EarlierDocument => ({ target_id: "x", state });
const file = { path: "/f", name: "f", mime_type: null, bytes: 1, sha256: "0" };

test.each<[string, Partial<DocumentPlan>, number]>([
  ["an empty one is a stub, and its chunk is deleted", {}, 2],
  ["chunks come by twenty", { chunks: 41 }, 5],
  ["a disabled chunk is a request", { chunks: 20, disabled: 3 }, 6],
  ["chunks with attachments, too", { chunks: 20, attached: 2, attachments: [{ id: "f", file: null }] }, 5],
  ["a file is uploaded once", { chunks: 20, attached: 2, attachments: [{ id: "f", file }] }, 6],
  [
    "metadata values are one request",
    {
      metadata: [
        { name: "a", value: 1 },
        { name: "b", value: null },
      ],
    },
    3,
  ],
  ["a status is one request", { enabled: false, archived: true }, 3],
])("writes of a document: %s", (_what, more, writes) => {
  expect(count([documentOf(more)])).toMatchObject({ documents: 1, writes, datasets: 0 });
});

test("a new dataset is made, and then its fields and tags", () => {
  expect(count([], {})).toMatchObject({ datasets: 1, writes: 1 });
  expect(count([], { equipping: 5 })).toMatchObject({ datasets: 1, writes: 6 });
});

test("missing settings of an existing dataset are created even if all documents were copied earlier; not if none is copied", () => {
  const lacking = { equipping: 2, target: there };
  expect(count([documentOf({ earlier: earlier("restored") })], lacking)).toMatchObject({ datasets: 0, writes: 2 });
  expect(count([documentOf({ refused: "It is not complete." })], lacking)).toMatchObject({ datasets: 0, writes: 0 });
});

test("documents that are not copied count only in their own member, and begun ones in full", () => {
  const rows = { chunks: 20, children: 3, characters: 100 };
  const counts = count([
    documentOf({ ...rows, refused: "It is not complete." }),
    documentOf({ ...rows, earlier: earlier("restored") }),
    documentOf({ ...rows, earlier: earlier("begun") }),
    documentOf(rows),
  ]);
  expect(counts).toEqual({
    ...{ datasets: 0, documents: 2, left_out: 1, there: 1 },
    ...{ chunks: 40, children: 6, characters: 200, writes: 6 },
  });
  expect(count([documentOf({ refused: "It is not complete." })], {})).toMatchObject({ datasets: 0, writes: 0 });
});
