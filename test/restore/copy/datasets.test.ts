import { describe, expect, test } from "vitest";
import { inFull } from "../../rounds.js";
import { outcomesOf, type Started, startCopyRun } from "./start-copy-of-run.js";

const settings = {
  ...{
    fields: [
      { name: "author", type: "string" },
      { name: "year", type: "number" },
    ],
  },
  ...{ built_in_fields: true, tags: ["handbooks", "old"] },
};
const metadata = [
  { name: "author", value: "Ö" },
  { name: "year", value: 1999 },
];
const sketch = { contents: ["x"], metadata };

/** The metadata fields, tags and values of the only dataset and its only document. */
async function detailsOf({ api }: Started) {
  const [{ id = "" } = {}, ...others] = (await api.datasets(1)).rows;
  expect(others).toEqual([]);
  const { doc_metadata, built_in_field_enabled } = await api.datasetMetadata(id);
  const [{ id: documentId = "" } = {}] = (await api.documents(id, 1)).rows;
  const values = (await api.document(id, documentId)).doc_metadata;
  return {
    fields: namesIn(doc_metadata),
    built_in_field_enabled,
    tags: namesIn(await api.datasetTags(id)).toSorted(),
    values: (Array.isArray(values) ? values : []).flatMap(({ id, name, value }) =>
      id === "built-in" ? [] : [[name, value]],
    ),
  };
}

function namesIn(rows: unknown): readonly string[] {
  return Array.isArray(rows) ? rows.map(({ name }) => String(name)) : [];
}

const all = {
  ...{ fields: ["author", "year"], built_in_field_enabled: true, tags: ["handbooks", "old"] },
  values: [
    ["author", "Ö"],
    ["year", 1999],
  ],
};

describe("metadata fields and tags", () => {
  test("come with their dataset, and the values with their document; nothing is sent twice", async () => {
    const place = await startCopyRun([sketch], { dataset: settings });
    const copied = await place.copyToEnd();
    expect([outcomesOf(copied), copied.problems]).toEqual([["one.txt: restored"], []]);
    expect(await detailsOf(place)).toEqual(all);
    const field = "POST /datasets/*/metadata";
    expect(place.sent().filter((line) => !/documents?\/(\*|create)/.test(line))).toEqual([
      ...["POST /datasets", field, field, "POST /datasets/*/metadata/built-in/enable"],
      ...["POST /datasets/tags", "POST /datasets/tags", "POST /datasets/tags/binding"],
      "POST /datasets/*/documents/metadata",
    ]);
    const sent = place.sent().length;
    expect(await place.copy()).toEqual(copied);
    expect(place.sent()).toHaveLength(sent);
  });

  test.runIf(inFull).each([
    ["done, and the answers lost", "lost"],
    ["lost, and done while they are looked for", { late: 2 }],
    ["never done", "cut"],
  ] as const)("come once where their writes are %s", async (_what, fault) => {
    const before = new Set<string>();
    const place = await startCopyRun([sketch], {
      dataset: settings,
      faultOf: ({ method, path, body }, write) =>
        write > 0 && before.size < before.add(method + path + body).size ? fault : undefined,
    });
    const copied = await place.copyToEnd();
    expect([outcomesOf(copied), copied.problems]).toEqual([["one.txt: restored"], []]);
    expect(await detailsOf(place)).toEqual(all);
    expect((await place.api.tags()).map(({ name }) => name).toSorted()).toEqual(["handbooks", "old"]);
  });

  test("that already exist are used: tags of other datasets, and fields of an existing dataset", async () => {
    const place = await startCopyRun([sketch], { dataset: settings });
    await place.byOthers("POST", "/datasets/tags", { name: "old" });
    await place.byOthers("POST", "/datasets", { name: "Mine", indexing_technique: "economy" });
    const [{ id = "" } = {}] = (await place.api.datasets(1)).rows;
    await place.byOthers("POST", `/datasets/${id}/metadata`, { type: "string", name: "author" });
    const target = { kind: "there", id, name: "Mine" } as const;
    const existed = { ...place.plan, datasets: place.plan.datasets.map((dataset) => ({ ...dataset, target })) };
    expect(outcomesOf(await place.copy({}, existed))).toEqual(["one.txt: restored"]);
    expect(await detailsOf(place)).toEqual(all);
    expect(place.lines().filter(({ kind }) => kind === "adopted")).toHaveLength(1);
    const sent = place.sent();
    expect(sent.filter((line) => line === "POST /datasets/*/metadata")).toHaveLength(1);
    expect(sent.filter((line) => line === "POST /datasets/tags")).toHaveLength(1);
    await place.copy({}, existed);
    expect(place.sent()).toEqual(sent);
    expect(place.lines().filter(({ kind }) => kind === "adopted")).toHaveLength(1);
  });

  test("that cannot be created are problems: the rest is copied, and the document says which value is missing", async () => {
    const place = await startCopyRun([sketch], {
      dataset: settings,
      faultOf: ({ body }, write) =>
        write > 0 && /"name":"(year|old)"/.test(body) ? { status: 400, message: "not this" } : undefined,
    });
    const copied = await place.copy();
    expect(copied.problems).toEqual([
      expect.stringMatching(
        /^dataset "Original": the metadata field "year": the service refused to make it: .* not this/,
      ),
      expect.stringMatching(/^dataset "Original": the tag "old": the service refused to make it: .* not this/),
    ]);
    expect(outcomesOf(copied)).toEqual(['one.txt: partial: the dataset there has no metadata field "year"']);
    expect(await detailsOf(place)).toEqual({
      ...{ ...all, fields: ["author"], tags: ["handbooks"], values: [["author", "Ö"]] },
    });
  });

  test("of release 1.12.1, which makes a tag and cannot show it: the defect is named, and a later command binds them", async () => {
    const message = "1 validation error for TagResponse\nbinding_count\n  Input should be a valid string";
    let isFixed = false;
    let tagsMade = 0;
    const place = await startCopyRun([sketch], {
      dataset: settings,
      faultOf: ({ method, path }) => {
        if (isFixed || !path.endsWith("/datasets/tags")) return undefined;
        if (method === "POST") tagsMade++;
        return tagsMade > 0 ? { status: 400, message, isDone: method === "POST" } : undefined;
      },
    });
    const defect =
      "the service makes tags, but cannot show them (400, binding_count), a defect of release 1.12.1; update it, then run the same command again, which binds them";
    const problems = ["handbooks", "old"].map((name) => `dataset "Original": the tag "${name}": ${defect}`);
    for (const copied of [await place.copy(), await place.copy()])
      expect([outcomesOf(copied), copied.problems]).toEqual([["one.txt: restored"], problems]);
    expect([tagsMade, (await detailsOf(place)).tags]).toEqual([1, []]);
    isFixed = true;
    expect((await place.copy()).problems).toEqual([]);
    expect(await detailsOf(place)).toEqual(all);
    expect((await place.api.tags()).map(({ name }) => name).toSorted()).toEqual(["handbooks", "old"]);
  });

  test("of another type are a problem", async () => {
    const place = await startCopyRun([{}], { dataset: { ...settings, fields: [{ name: "year", type: "time" }] } });
    await place.byOthers("POST", "/datasets", { name: "Mine", indexing_technique: "economy" });
    const [{ id = "" } = {}] = (await place.api.datasets(1)).rows;
    await place.byOthers("POST", `/datasets/${id}/metadata`, { type: "string", name: "year" });
    const target = { kind: "there", id, name: "Mine" } as const;
    const existed = { ...place.plan, datasets: place.plan.datasets.map((dataset) => ({ ...dataset, target })) };
    expect((await place.copy({}, existed)).problems).toEqual([
      'dataset "Original": the metadata field "year": it is of the type string there, and of the type time in the dump',
    ]);
  });
});

describe("values of metadata", () => {
  test("that are empty are left out; a document without any sends none", async () => {
    const none = [
      { name: "author", value: null },
      { name: "year", value: "" },
    ];
    const place = await startCopyRun([{ metadata: none }], { dataset: settings });
    expect(outcomesOf(await place.copy())).toEqual(["one.txt: restored"]);
    expect(place.sent()).not.toContain("POST /datasets/*/documents/metadata");
  });
});

describe("a dataset that cannot be made", () => {
  test("because the name was taken meanwhile fails its documents, and suggests a new plan", async () => {
    const place = await startCopyRun([{}, { document_name: "two.txt" }]);
    await place.byOthers("POST", "/datasets", { name: "Copy" });
    const copied = await place.copy();
    expect(copied.problems).toEqual([
      expect.stringMatching(/^dataset "Original": POST .* 409 .*; the name was taken meanwhile: plan again$/),
    ]);
    const [problem] = copied.problems;
    expect(outcomesOf(copied)).toEqual([`one.txt: failed: ${problem}`, `two.txt: failed: ${problem}`]);
    expect(place.sent()).toEqual(["POST /datasets"]);
  });

  test("says which form of the dataset it is for", async () => {
    const place = await startCopyRun([{ doc_form: "qa_model" }], { dataset: { key: "old set/qa_model" } });
    await place.byOthers("POST", "/datasets", { name: "Copy" });
    expect((await place.copy()).problems).toEqual([expect.stringMatching(/^dataset "Original \(qa_model\)": POST /)]);
  });

  test("because the service does not have its model says what to do instead", async () => {
    const plan = await startCopyRun([{}]);
    const [dataset] = plan.plan.datasets;
    if (!dataset) throw new Error("no dataset");
    const model = { indexing_technique: "high_quality", embedding_model: "m", embedding_model_provider: "p" };
    const place = await startCopyRun([{}], {
      dataset: { settings: { ...dataset.settings, ...model } },
      embeddingModels: ["other"],
    });
    expect(outcomesOf(await place.copy())).toEqual([
      expect.stringMatching(/400 .*; make a dataset with a model of that service there, and name it with --dataset$/),
    ]);
  });
});

test("a dataset with the name of a lost answer, and with documents, does not count as the new one", async () => {
  const place = await startCopyRun([{}], {
    faultOf: async (_, write) => {
      if (write !== 1) return undefined;
      await place.byOthers("POST", "/datasets", { name: "Copy" });
      const [{ id = "" } = {}] = (await place.api.datasets(1)).rows;
      const document = { name: "theirs", text: "x", indexing_technique: "economy" };
      await place.byOthers("POST", `/datasets/${id}/document/create-by-text`, document);
      return "cut";
    },
  });
  expect(outcomesOf(await place.copy())).toEqual([expect.stringContaining("plan again")]);
  expect((await place.standing()).slice(0, 2)).toEqual(["dataset Copy", expect.stringMatching(/^ {2}theirs/)]);
});
