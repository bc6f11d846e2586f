import { expect, test } from "vitest";
import { inFull } from "../../rounds.js";
import { child, chunk } from "../../verify/sound-tables.js";
import {
  compareEach,
  compareTables,
  copies,
  type Draft,
  described,
  liveTables,
  oldTables,
  rowOf,
} from "./copied-dumps.js";

const differencesOf = async (change: (live: Draft) => void, given?: Parameters<typeof compareTables>[2]) => {
  const live = liveTables();
  change(live);
  return described(await compareTables(oldTables(), live, given));
};

test("a sound copy has no difference, although ids, positions and some words are other ones", async () => {
  expect(await compareTables(oldTables(), liveTables())).toEqual([]);
});

const set = (kind: keyof Draft, id: string, values: object) => (live: Draft) =>
  void Object.assign(rowOf(live, kind, id), values);
const drop = (kind: keyof Draft, id: string) => (live: Draft) => {
  live[kind] = live[kind].filter((row) => row !== rowOf(live, kind, id));
};
const here = { dataset_id: "D", enabled: true, status: "completed" };
const rule = (rules: object) => ({ process_rule: { mode: "custom", rules } });

const broken: readonly (readonly [string, (live: Draft) => void, string])[] = [
  ["a content", set("chunks", "x3", { content: "Four" }), "chunk a4: it differs in text"],
  ["an answer", set("chunks", "y1", { answer: "so." }), "chunk q1: it differs in text"],
  ["keywords", set("chunks", "x1", { keywords: ["red"] }), "chunk a1: it differs in keywords"],
  ["a chunk that is enabled", set("chunks", "x2", { enabled: true }), "chunk a3: it differs in state"],
  ["a chunk that is disabled", set("chunks", "x1", { enabled: false }), "chunk a1: it differs in state"],
  ["a chunk that is not indexed", set("chunks", "x1", { status: "error" }), "chunk a1: it differs in status"],
  ["attachments", set("chunks", "x3", { attachments: [] }), "chunk a4: it differs in attachments"],
  [
    "an attachment too many",
    set("chunks", "x1", { attachments: [{ id: "F1" }] }),
    "chunk a1: it differs in attachments",
  ],
  ["a missing chunk", drop("chunks", "x2"), "chunk a3: it is not in the copy"],
  [
    "a chunk too many",
    (live) => live.chunks.splice(1, 0, chunk("A", "x9", { ...here, position: 9, content: "one" })),
    "chunk x9: it is in the copy, and not in the run",
  ],
  ["the order of chunks", (live) => live.chunks.unshift(...live.chunks.splice(2, 1)), "chunk a4: it differs in place"],
  ["a child chunk", set("child_chunks", "z2", { content: "nE" }), "child_chunk k3: it differs in text"],
  ["the order of child chunks", (live) => live.child_chunks.reverse(), "child_chunk k1: it differs in place"],
  ["a missing child chunk", drop("child_chunks", "z1"), "child_chunk k1: it is not in the copy"],
  [
    "a child chunk too many",
    (live) => live.child_chunks.push(child("A", "x1", "z9", { dataset_id: "D", content: "ne" })),
    "child_chunk z9: it is in the copy, and not in the run",
  ],
  ["a customized child", set("child_chunks", "z2", { type: "automatic" }), "child_chunk k3: it differs in type"],
  [
    "the name of a document",
    set("document_details", "A", { name: "b.md" }),
    'document a: its name is "b.md" at the service, and "a.md" in the run',
  ],
  [
    "its form",
    set("document_details", "Q", { doc_form: "text_model" }),
    'document q: its form is "text_model" at the service, and "qa_model" in the run',
  ],
  [
    "its language",
    set("document_details", "A", { doc_language: "German" }),
    'document a: its language is "German" at the service, and "English" in the run',
  ],
  [
    "its state",
    set("document_details", "A", { enabled: false }),
    "document a: its state (enabled) is false at the service, and true in the run",
  ],
  [
    "the archive",
    set("document_details", "A", { archived: true }),
    "document a: its state (archived) is true at the service, and false in the run",
  ],
  [
    "its indexing",
    set("document_details", "A", { indexing_status: "error" }),
    'document a: its indexing status is "error" at the service, and "completed" in the run',
  ],
  [
    "a metadata value",
    set("document_details", "A", {
      doc_metadata: [
        { id: "M1", name: "author", value: "Jo" },
        { name: "pages", value: 13 },
      ],
    }),
    'document a: its metadata value "pages" is 13 at the service, and 12 in the run',
  ],
  [
    "a missing metadata value",
    set("document_details", "A", { doc_metadata: [{ id: "M2", name: "pages", value: 12 }] }),
    'document a: its metadata value "author" is nothing at the service, and "Jo" in the run',
  ],
  [
    "a metadata value too many",
    set("document_details", "Q", { doc_metadata: [{ id: "M2", name: "pages", value: 1 }] }),
    'document q: its metadata value "pages" is 1 at the service, and nothing in the run',
  ],
  [
    "the process rule",
    set("document_details", "A", rule({ segmentation: { max_tokens: 400, separator: "\n" } })),
    "document a: its process rule differs in rules.segmentation.max_tokens",
  ],
  [
    "the mode of the process rule",
    set("document_details", "A", {
      process_rule: {
        mode: "hierarchical",
        rules: rule({ segmentation: { max_tokens: 500, separator: "\n" } }).process_rule.rules,
      },
    }),
    "document a: its process rule differs in mode",
  ],
  [
    "the name of a dataset",
    set("datasets", "D", { name: "Old" }),
    'dataset d: its name is "Old" at the service, and "Old (2)" in the run',
  ],
  [
    "its description",
    set("datasets", "D", { description: null }),
    'dataset d: its description is nothing at the service, and "All of it" in the run',
  ],
  [
    "its permission",
    set("datasets", "D", { permission: "only_me" }),
    'dataset d: its permission is "only_me" at the service, and "all_team_members" in the run',
  ],
  [
    "its technique",
    set("datasets", "D", { indexing_technique: "economy" }),
    'dataset d: its indexing technique is "economy" at the service, and "high_quality" in the run',
  ],
  [
    "its model",
    set("datasets", "D", { embedding_model: "large" }),
    'dataset d: its embedding model is "large" at the service, and "small" in the run',
  ],
  [
    "the provider of its model",
    set("datasets", "D", { embedding_model_provider: "langgenius/ollama/ollama" }),
    'dataset d: its provider of the embedding model is "ollama" at the service, and "openai" in the run',
  ],
  [
    "its retrieval",
    set("datasets", "D", { retrieval_model: { search_method: "hybrid_search", top_k: 4 } }),
    "dataset d: its retrieval model differs in top_k",
  ],
  [
    "its fields",
    set("datasets", "D", { doc_metadata: [{ name: "author", type: "string" }] }),
    "dataset d: its metadata fields lack pages (number)",
  ],
  [
    "a field too many",
    (live) => (rowOf(live, "datasets", "D").doc_metadata as object[]).push({ name: "n", type: "time" }),
    "dataset d: its metadata fields have n (time) more than in the run",
  ],
  ["its tags", set("datasets", "D", { tags: [] }), "dataset d: its tags lack public"],
  [
    "its built-in fields",
    set("datasets", "D", { built_in_field_enabled: false }),
    "dataset d: its switch for built-in metadata fields is false at the service, and true in the run",
  ],
];

test.runIf(inFull)("each thing that is broken is one difference", async () => {
  const lives = broken.map(([, change]) => {
    const live = liveTables();
    change(live);
    return live;
  });
  const found = await compareEach(lives);
  expect(broken.map(([name], at) => [name, found[at]])).toEqual(broken.map(([name, , reason]) => [name, [reason]]));
});

test("an announced loss is not a difference", async () => {
  const change = (live: Draft) => {
    set("datasets", "D", {
      description: "own",
      permission: "only_me",
      ...{ indexing_technique: "economy", embedding_model: null, embedding_model_provider: null },
      retrieval_model: null,
    })(live);
    rowOf(live, "datasets", "D").tags = [{ name: "public" }, { name: "own" }];
    set("document_details", "A", { process_rule: { mode: "automatic" }, doc_metadata: [] })(live);
  };
  const [old, live] = [oldTables(), liveTables()];
  rowOf(old, "document_details", "a").process_rule = null;
  rowOf(old, "datasets", "d").doc_metadata = [];
  change(live);
  const datasets = new Map([["d/D", { name: "Old (2)", existed: true, missingTags: [] }]]);
  expect(await compareTables(old, live, { copies: { ...copies, datasets } })).toEqual([]);
});

test.runIf(inFull).each([
  [{ enabled: false }, false, []],
  [{ archived: true }, false, []],
  [{ enabled: false }, true, ["chunk a3: it differs in state"]],
])(
  "chunks that the service disabled with their document (%j) are no difference, as was announced",
  async (off, isOn, found) => {
    const [old, live] = [oldTables(), liveTables()];
    for (const tables of [old, live]) Object.assign(rowOf(tables, "document_details", tables === old ? "a" : "A"), off);
    Object.assign(rowOf(live, "chunks", "x1"), { enabled: false });
    Object.assign(rowOf(live, "chunks", "x2"), { enabled: isOn });
    expect(described(await compareTables(old, live))).toEqual(found);
  },
);

test.runIf(inFull)("of several copies of one dataset, each is compared, and named", async () => {
  const two = (more: object) => {
    const live = liveTables();
    const [copy] = live.datasets;
    live.datasets.push({ ...copy, dataset_id: "E", id: "E", name: "Old (qa_model)", ...more });
    for (const kind of ["documents", "chunks", "document_details"] as const)
      for (const row of live[kind]) if (row.document_id === "Q") row.dataset_id = "E";
    return live;
  };

  const datasets = new Map([...copies.datasets, ["d/E", { name: "Old (qa_model)", existed: false, missingTags: [] }]]);
  const pairs = [
    { old: { dataset_id: "d", document_id: "a" }, live: { dataset_id: "D", document_id: "A" } },
    { old: { dataset_id: "d", document_id: "q" }, live: { dataset_id: "E", document_id: "Q" } },
  ];
  const compare = async (more: object) =>
    described(await compareTables(oldTables(), two(more), { pairs, copies: { ...copies, datasets } }));
  expect(await compare({})).toEqual([]);
  expect(await compare({ name: "Old (2)", tags: [] })).toEqual([
    'dataset d: its name is "Old (2)" at the service, and "Old (qa_model)" in the run (dataset E)',
    "dataset d: its tags lack public (dataset E)",
  ]);
});

test("a dataset that was shared with some members is visible only to its owner", async () => {
  const old = oldTables();
  rowOf(old, "datasets", "d").permission = "partial_members";
  const live = liveTables();
  rowOf(live, "datasets", "D").permission = "only_me";
  expect(await compareTables(old, live)).toEqual([]);
});

test("rows that were reported as failed are not reported again", async () => {
  const failed = new Set(["a3", "k3", "a4"]);
  const change = (live: Draft) => {
    drop("chunks", "x2")(live);
    drop("child_chunks", "z2")(live);
    set("chunks", "x3", { status: "error", enabled: false })(live);
  };
  expect(await differencesOf(change, { copies: { ...copies, failed } })).toEqual([]);
});

test.runIf(inFull)("child chunks that the run did not read are not compared", async () => {
  const old = { ...oldTables(), child_chunks: [] };
  expect(await compareTables(old, liveTables(), { old: { options: { child_chunks: "none" } } })).toEqual([]);
  expect(described(await compareTables(old, liveTables()))).toHaveLength(2);
});

test("of one document 100 rows are listed, and a sentence counts the others", async () => {
  const [old, live] = [oldTables(), liveTables()];
  const rows = Array.from({ length: 150 }, (_, at) => chunk("a", `b${at}`, { content: `${at}`, position: 9 + at }));
  old.chunks.splice(4, 0, ...rows);
  const [first, ...rest] = described(await compareTables(old, live));
  expect(first).toBe("document a: 50 more chunks of it differ");
  expect(rest).toEqual(rows.slice(0, 100).map(({ id }) => `chunk ${id}: it is not in the copy`));
});

test.runIf(inFull)("an incomplete document proves nothing, and neither does one without visible settings", async () => {
  const live = liveTables();
  set("documents", "Q", { status: "unstable", error: "it moved" })(live);
  await expect(compareTables(oldTables(), live)).rejects.toThrow(/could not be read completely.*\n {2}Q: it moved/);
  const bare = { ...liveTables(), document_details: [] };
  await expect(
    compareTables(oldTables(), bare, { live: { manifest: { warnings: ["the details are not in this dump"] } } }),
  ).rejects.toThrow(/settings of document A could not be read.*\n {2}the details are not in this dump/);
  await expect(compareTables(oldTables(), { ...liveTables(), datasets: [] })).rejects.toThrow(
    "the settings of dataset D could not be read",
  );
});
