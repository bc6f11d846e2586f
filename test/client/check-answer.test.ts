import { describe, expect, it } from "vitest";
import { checkFields, checkPage, checkRecords, checkTagList } from "../../src/client/check-answer.js";
import { RetryError } from "../../src/errors.js";
import { ExactNumber } from "../../src/rows/exact-json.js";

const url = "https://kb.example.com/v1/datasets/d/documents/e/segments?page=2&limit=100";
const noObjects = [null, 1, "row", true, [], [{ id: "x" }]];

function complaint(check: () => unknown): string {
  try {
    check();
  } catch (error) {
    if (!(error instanceof RetryError)) throw error;
    expect(error.message).toContain(`GET ${url}: `);
    return error.message.slice(`GET ${url}: `.length);
  }
  return "none";
}

describe("checkPage", () => {
  it("keeps every row as it came: new, absent, null and mistyped fields", () => {
    const rows = [
      { id: "a", position: "1", keywords: 7, content: null, brand_new: { deep: [1] } },
      { id: "b", created_at: 1741267200.5, exact: new ExactNumber("1e400") },
    ];
    const page = checkPage({ data: rows, total: 2, doc_form: "qa_model", has_more: "yes", limit: null, novel: 1 }, url);
    expect(page).toEqual({ rows, total: 2, docForm: "qa_model" });
    expect(page.rows[0]).toBe(rows[0]);
  });

  it("accepts an empty list", () => expect(checkPage({ data: [], total: 0 }, url).rows).toEqual([]));

  it.each([
    ["hierarchical_model", "hierarchical_model"],
    ["a_new_one", "a_new_one"],
    [undefined, null],
    [null, null],
    [3, null],
  ])("doc_form %j is %j", (form, expected) => {
    expect(checkPage({ data: [], total: 0, doc_form: form }, url).docForm).toBe(expected);
  });

  it.each([...noObjects, undefined, new ExactNumber("1e400")].map((value) => ({ value })))(
    "$value is no answer",
    ({ value }) => {
      expect(complaint(() => checkPage(value, url))).toMatch(
        /the answer (is not a JSON object|has no list of objects "data")/,
      );
    },
  );

  const noLists = [undefined, null, {}, "[]", 0, ...noObjects.map((row) => [row]), [{ id: "a" }, null]];
  it.each(noLists.map((data) => ({ data })))("data $data is no list of rows", ({ data }) => {
    expect(complaint(() => checkPage({ data, total: 1 }, url))).toBe('the answer has no list of objects "data"');
  });

  const noTotals = [undefined, null, "1", 1.5, -1, true, [1], Number.MAX_SAFE_INTEGER + 1, new ExactNumber("1e400")];
  it.each(noTotals.map((total) => ({ total })))("total $total is none", ({ total }) => {
    expect(complaint(() => checkPage({ data: [], total }, url))).toBe('the answer has no whole number "total"');
  });

  it.each([undefined, null, "", 7, ["a"], {}].map((id) => ({ id })))("id $id is none", ({ id }) => {
    const data = [{ id: "a" }, { id, content: "x" }];
    expect(complaint(() => checkPage({ data, total: 2 }, url))).toBe('row 2 has no "id"');
  });
});

describe("checkRecords", () => {
  it("keeps the entries as they came, without a total", () => {
    const data = [{ id: "a", indexing_status: 3, novel: true }, { id: "b" }];
    expect(checkRecords({ data }, url)).toEqual(data);
  });

  it.each([
    [{}, 'the answer has no list of objects "data"'],
    [[], "the answer is not a JSON object"],
    [{ data: [1] }, 'the answer has no list of objects "data"'],
    [{ data: [{}] }, 'row 1 has no "id"'],
  ])("%j is refused", (body, message) => expect(complaint(() => checkRecords(body, url))).toBe(message));
});

describe("checkFields", () => {
  it("keeps the fields as they came; they have no id", () => {
    const fields = [{ name: "uploader", type: "string" }, { name: 7, novel: null }, {}];
    expect(checkFields({ fields }, url)).toEqual(fields);
  });

  it.each([[{}], [{ fields: {} }], [{ fields: ["uploader"] }], [{ data: [] }]])("%j is refused", (body) => {
    expect(complaint(() => checkFields(body, url))).toBe('the answer has no list of objects "fields"');
  });
});

it.each([[null], [{}], [[1]], [[{ name: "law" }]], [{ data: [{ name: "law" }] }]])("%j is no list of tags", (value) => {
  expect(complaint(() => checkTagList(value, url))).toMatch(/not a JSON object|no list of objects "data"|has no "id"/);
});
