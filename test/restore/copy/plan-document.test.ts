import { describe, expect, test } from "vitest";
import { documentFrom } from "../../../src/compare/proof/settings.js";
import { planDocument } from "../../../src/restore/copy/plan-copy.js";
import { formedDocuments, noRows } from "../../../src/restore/copy/read-dump.js";
import { documentKey } from "../../../src/rows/row.js";
import { datasetDetails, documentDetails, documentFacts } from "./documents.js";

const planWith = (details: Parameters<typeof documentDetails>[0], more: Parameters<typeof documentFacts>[0] = {}) =>
  planDocument(...documentFacts({ details: documentDetails(details), ...more }));
const ruleLoss = { part: "process rule", rows: 1, reason: expect.stringContaining("it becomes automatic") };
const rules = { parent_mode: "full-doc", segmentation: { separator: "\n", max_tokens: 500 } };

test.each([
  ["automatic has no rules", { mode: "automatic", rules: { segmentation: {} } }, { mode: "automatic" }, []],
  ["custom keeps its rules", { id: "r", mode: "custom", rules }, { mode: "custom", rules }, []],
  ["a parent mode stays", { mode: "hierarchical", rules }, { mode: "hierarchical", rules }, []],
  ["none becomes automatic", null, { mode: "automatic" }, [ruleLoss]],
  ["custom without rules, likewise", { mode: "custom", rules: null }, { mode: "automatic" }, [ruleLoss]],
  ["rules without a mode, likewise", { rules }, { mode: "automatic" }, [ruleLoss]],
])("process rule: %s", (_what, process_rule, planned, losses) => {
  const details = documentFrom({ process_rule: JSON.stringify(process_rule) });
  expect(planDocument(...documentFacts({ details }))).toMatchObject({ process_rule: planned, losses });
});

test("the form comes from the document, or else from its details, or else from the dataset", () => {
  const form = (document: string | null, details: string | null, dataset: string | null) => {
    const ids = { dataset_id: "d", document_id: "a" };
    const datasets = new Map([["d", datasetDetails({ doc_form: dataset })]]);
    const documents = new Map([[documentKey(ids), documentDetails({ doc_form: details })]]);
    const listed = { ...documentFacts()[0], ...ids, doc_form: document };
    return formedDocuments({ documents: [listed] }, { datasets, documents })[0]?.doc_form;
  };
  expect(form("text_model", "qa_model", "hierarchical_model")).toBe("text_model");
  expect(form(null, "qa_model", "hierarchical_model")).toBe("qa_model");
  expect(form(null, null, "hierarchical_model")).toBe("hierarchical_model");
  expect(form(null, null, null)).toBe("text_model");
});

test("metadata: values of built-in fields are skipped, and those without a field are a loss", () => {
  const dataset = datasetDetails({
    fields: [
      { name: "author", type: "string" },
      { name: "year", type: "number" },
    ],
  });
  const listed = [
    { id: "built-in", name: "uploader", type: "string", value: "Jo" },
    { id: "f1", name: "author", type: "string", value: "Ann" },
    { id: "f2", name: "year", type: "number", value: 2025.5 },
    { id: "f2", name: "year", type: "number", value: ["no", "value"] },
    { id: "f3", name: "gone", type: "string", value: "x" },
  ];
  const details = documentFrom({ doc_metadata: JSON.stringify(listed), process_rule: '{"mode":"automatic"}' });
  expect(planDocument(...documentFacts({ dataset, details }))).toMatchObject({
    metadata: [
      { name: "author", value: "Ann" },
      { name: "year", value: 2025.5 },
    ],
    losses: [
      { part: "metadata", rows: 1, reason: expect.stringContaining("no metadata field") },
      { part: "metadata", rows: 1, reason: expect.stringContaining("neither a text nor a number") },
    ],
  });
});

describe("losses", () => {
  const counts = { ...noRows, chunks: 9, lost_chunks: 1, lost_children: 2, orphans: 3, summaries: 4, characters: 70 };
  const attachments = [{ id: "f1", file: null }];
  const rows = { ...counts, attachments, attached: 1, losing: 5, reason: "No files." };
  const parts = (plan: ReturnType<typeof planWith>) => plan.losses.map(({ part, rows }) => [part, rows]);

  test("of rows and of the source are announced with their counts", () => {
    const plan = planWith({ data_source_type: "website_crawl" }, { rows });
    expect(parts(plan)).toEqual([
      ...[
        ["chunks", 1],
        ["children", 2],
        ["children", 3],
        ["attachments", 5],
        ["summaries", 4],
        ["source", 1],
      ],
    ]);
    expect(plan).toMatchObject({ chunks: 9, characters: 70, attachments, attached: 1 });
  });

  test.each([{ enabled: false }, { archived: true }])("of the state of chunks are announced: %j", (off) => {
    expect(parts(planWith(off, { rows: { ...noRows, chunks: 9, disabled: 2 } }))).toEqual([["states", 7]]);
  });

  test("of a document that is refused are none", () => {
    const plan = planWith({ process_rule: null }, { rows, refusal: "It is not complete." });
    expect(plan).toMatchObject({ refused: "It is not complete.", losses: [], chunks: 9 });
  });
});

test("a document without details is refused, for the better reason if there is one", () => {
  expect(planDocument(...documentFacts({ details: undefined }))).toMatchObject({
    refused: expect.stringContaining("no details"),
    document_name: "a",
    enabled: true,
    archived: false,
  });
  const refusal = "The run did not read all of it.";
  expect(planDocument(...documentFacts({ details: undefined, refusal })).refused).toBe(refusal);
});
