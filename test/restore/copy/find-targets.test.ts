import { describe, expect, test } from "vitest";
import { UsageError } from "../../../src/errors.js";
import { type JournalFacts, noFacts } from "../../../src/journal/journal-state.js";
import { findTargets } from "../../../src/restore/copy/find-targets.js";
import { refusing, startPlace, upload } from "../../crawl/discover/discovering.js";
import { startTarget, targetDataset } from "./start-target.js";

const wish = (key: string, dataset_name: string, form = "text_model") => {
  return { key, dataset_id: key.slice(0, 4), dataset_name, form };
};
const wished = (...names: readonly string[]) => names.map((name, at) => wish(`old${at + 1}`, name));
const [first, second] = ["11111111-0000-4000-8000-000000000001", "11111111-0000-4000-8000-000000000002"];

/** A journal with copies of these datasets, and of these documents in the first dataset. */
function factsOf(datasets: Readonly<Record<string, string>>, documents: readonly string[] = []): JournalFacts {
  const known = { target_dataset_id: first, state: "begun" } as const;
  return {
    ...noFacts,
    datasets: new Map(Object.entries(datasets).map(([old, id]) => [old, { id, name: "of the journal" }])),
    documents: new Map(documents.map((id) => [`old ${id}`, { ...known, target_id: id }])),
  };
}

const targetsOf = async (...asked: Parameters<typeof findTargets>) =>
  [...(await findTargets(...asked)).targets].map(([id, { target }]) => [id, target]);

test("new datasets get names that are free at the target and in the plan, on whatever page the others are", async () => {
  const many = Array.from({ length: 120 }, (_, at) =>
    targetDataset(`22222222-0000-4000-8000-${String(at).padStart(12, "0")}`, `Manual ${at}`),
  );
  const target = await startTarget(...many, targetDataset(first, "Handbook"));
  const options = { dataset: undefined, facts: noFacts };
  expect(await targetsOf(target, wished("Handbook", "Handbook", "Manual 119", "handbook"), options)).toEqual([
    ["old1", { kind: "new", name: "Handbook (2)" }],
    ["old2", { kind: "new", name: "Handbook (3)" }],
    ["old3", { kind: "new", name: "Manual 119 (2)" }],
    ["old4", { kind: "new", name: "handbook" }],
  ]);
});

test("datasets of the journal are used as long as they exist", async () => {
  const target = await startTarget(targetDataset(first, "Handbook", ["d1"]));
  const facts = factsOf({ old1: first, old2: second });
  const found = await findTargets(target, wished("Handbook", "Manual"), { dataset: undefined, facts });
  expect(found.warnings).toEqual([]);
  expect(found.targets.get("old1")).toMatchObject({
    target: { kind: "there", id: first, name: "Handbook" },
    there: { documents: new Set(["d1"]), flaw: null, existed: false },
  });
  expect(found.targets.get("old2")?.target).toEqual({ kind: "new", name: "Manual" });
});

test("--dataset: an empty dataset, or one with documents of this journal only", async () => {
  const target = await startTarget(targetDataset(first, "Mine", ["d1"]), targetDataset(second, "Empty"));
  const taken = async (dataset: string, facts: JournalFacts) =>
    targetsOf(target, wished("Handbook"), { dataset, facts }).catch((error: unknown) => error);
  expect(await taken(second, noFacts)).toEqual([["old1", { kind: "there", id: second, name: "Empty" }]]);
  expect(await taken(first, factsOf({}, ["d1"]))).toEqual([["old1", { kind: "there", id: first, name: "Mine" }]]);
  expect(await taken(first, factsOf({ old1: first }))).toEqual([["old1", { kind: "there", id: first, name: "Mine" }]]);
  expect(await taken(second, factsOf({ old1: "gone" }))).toEqual([
    ["old1", { kind: "there", id: second, name: "Empty" }],
  ]);
});

test.each<[string, Parameters<typeof findTargets>[2], readonly string[], string]>([
  ["one that is not there", { dataset: "nowhere", facts: noFacts }, ["a"], "the target has no dataset nowhere"],
  [
    "one with documents of others",
    { dataset: first, facts: noFacts },
    ["a"],
    "has documents that this restore did not make, such as d1",
  ],
  [
    "documents of several datasets",
    { dataset: second, facts: noFacts },
    ["a", "b"],
    "of 2 datasets of the run: name those of one with --document",
  ],
  [
    "another than that of the journal",
    { dataset: second, facts: factsOf({ old1: first }) },
    ["a"],
    `already uses ${first}`,
  ],
])("--dataset is refused: %s", async (_what, options, names, message) => {
  const target = await startTarget(targetDataset(first, "Mine", ["d1"]), targetDataset(second, "Empty"));
  await expect(findTargets(target, wished(...names), options)).rejects.toMatchObject({
    name: "UsageError",
    problems: [{ path: "--dataset", message: expect.stringContaining(message) }],
  });
});

describe("one form in a dataset", () => {
  const forms = [wish("old1", "Handbook"), wish("old1/qa_model", "Handbook", "qa_model")];

  test("each has its own dataset: the one in the journal, or a new one", async () => {
    const target = await startTarget(targetDataset(first, "Handbook (qa_model)"));
    const found = await findTargets(target, forms, { dataset: undefined, facts: factsOf({ "old1/qa_model": first }) });
    expect([...found.targets].map(([key, { target }]) => [key, target])).toEqual([
      ["old1/qa_model", { kind: "there", id: first, name: "Handbook (qa_model)" }],
      ["old1", { kind: "new", name: "Handbook" }],
    ]);
    expect(await targetsOf(target, forms.slice(1), { dataset: undefined, facts: noFacts })).toEqual([
      ["old1/qa_model", { kind: "new", name: "Handbook (qa_model) (2)" }],
    ]);
  });

  test("--dataset takes the documents of one", async () => {
    const target = await startTarget(
      targetDataset(first, "Handbook", ["d1"], { doc_form: "text_model" }),
      targetDataset(second, "Empty", [], { doc_form: null }),
    );
    const taken = (dataset: string, ...given: readonly string[]) =>
      targetsOf(
        target,
        forms.filter(({ form }) => given.includes(form)),
        { dataset, facts: factsOf({}, ["d1"]) },
      );
    const problem = async (asked: Promise<unknown>) => {
      await expect(asked).rejects.toBeInstanceOf(UsageError);
      return asked.catch(({ problems }: UsageError) => problems);
    };
    expect(await taken(first, "text_model")).toMatchObject([["old1", { id: first }]]);
    expect(await taken(second, "qa_model")).toMatchObject([["old1/qa_model", { id: second }]]);
    expect(await problem(taken(second, "text_model", "qa_model"))).toEqual([
      {
        path: "--dataset",
        message:
          "the documents have 2 forms (text_model, qa_model), and a dataset accepts one: choose those of one form with --document",
      },
    ]);
    expect(await problem(taken(first, "qa_model"))).toEqual([
      {
        path: "--dataset",
        message: `the dataset ${first} accepts documents of the form text_model, and these have the form qa_model: name an empty one, or make one with --dataset new`,
      },
    ]);
  });
});

test("a target that does not tell ends the plan: no copy is made a second time for that", async () => {
  const { server, client, datasets } = await startPlace([1], { details: false });
  const id = datasets[0]?.id ?? "";
  const known = { dataset: undefined, facts: factsOf({ old1: id }) };
  await expect(findTargets(client, wished("a"), known)).rejects.toMatchObject({
    name: "StopError",
    message: expect.stringContaining(`the target does not return its dataset ${id}`),
  });
  server.behaviour.details = true;
  server.behaviour.faults = refusing("/documents", 403, "forbidden", "No.");
  await expect(findTargets(client, wished("a"), known)).rejects.toThrow(`the documents of the dataset ${id}`);
  server.behaviour.faults = refusing("/datasets", 403, "forbidden", "No.");
  await expect(findTargets(client, wished("a"), { dataset: undefined, facts: noFacts })).rejects.toThrow(
    "create a dataset, and name it with --dataset <id>",
  );
});

test("a key that the service does not accept is the first thing that is said", async () => {
  const { server, client } = await startPlace([1]);
  server.behaviour.faults = refusing("/datasets", 401, "unauthorized", "Access token is invalid");
  await expect(findTargets(client, wished("a"), { dataset: undefined, facts: noFacts })).rejects.toThrow(
    /^GET \S+: the service does not accept this key .*; or create a dataset, and name it with --dataset <id>$/,
  );
});

test("a list that changes during the read causes a warning, and no document counts as missing because of it", async () => {
  const { server, client, datasets } = await startPlace([101]);
  const [dataset] = datasets;
  server.behaviour.onRequest = ({ path, query }) => {
    if (path.endsWith("/documents") && query.includes("page=1")) upload(dataset);
  };
  const facts = factsOf({ old1: dataset?.id ?? "" });
  const { warnings, targets } = await findTargets(client, wished("a"), { dataset: undefined, facts });
  expect(warnings).toEqual([
    expect.stringContaining(`the list of documents of the dataset ${dataset?.id} of the target`),
  ]);
  expect(targets.get("old1")?.there?.flaw).toBe(warnings[0]);
});
