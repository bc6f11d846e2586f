import { join } from "node:path";
import { expect, test } from "vitest";
import { type JournalFacts, noFacts } from "../../../src/journal/journal-state.js";
import { countCopy } from "../../../src/restore/copy/copy-plan.js";
import { emptyWriteProgress } from "../../../src/restore/result.js";
import { child, chunk } from "../../compare/lost/lost-dumps.js";
import { idsOf, type Place, refusing, startPlace, upload } from "../../crawl/discover/discovering.js";
import { inFull } from "../../rounds.js";
import type { JsonObject } from "../../servers/json.js";
import { makeDocument } from "../../servers/store.js";
import { detailedDump, dumpWithDetails } from "./detailed-dumps.js";
import { planOf } from "./plan-of.js";
import { startTarget, targetDataset } from "./start-target.js";

const field = { id: "f1", name: "author", type: "string" };
const rule: JsonObject = { mode: "custom", rules: { segmentation: { separator: "\n", max_tokens: 500 } } };
const detailsOf = (id: string, more: JsonObject = {}): JsonObject => ({
  ...{ id, name: `${id}.md`, doc_language: "English", data_source_type: "upload_file", document_process_rule: rule },
  ...{ doc_metadata: [{ ...field, value: "Jo" }], archived: false, enabled: true, indexing_status: "completed" },
  ...more,
});

/** A service with two datasets: one with a hierarchical and an archived qa_model document, and an empty one. */
async function startSource(): Promise<Place> {
  const place = await startPlace([0, 0]);
  const [dataset] = place.datasets;
  const text = makeDocument({ chunks: 5, seed: 71, childrenPerChunk: 2, docForm: "hierarchical_model" });
  const questions = makeDocument({ chunks: 3, seed: 72, docForm: "qa_model" });
  for (const document of [text, questions]) {
    document.details = detailsOf(document.id, { doc_form: document.docForm, archived: document === questions });
    for (const each of document.chunks) Object.assign(each, { attachments: [], summary: null, enabled: true });
    dataset?.documents.set(document.id, document);
  }
  const [one, two, three] = text.chunks;
  Object.assign(one ?? {}, { attachments: [{ id: "file", name: "figure.png" }], enabled: false });
  Object.assign(two ?? {}, { content: "\u3000" });
  Object.assign(three ?? {}, { summary: "In short" });
  Object.assign(questions.chunks[2] ?? {}, { answer: "\n" });
  Object.assign(dataset ?? {}, {
    listed: { indexing_technique: "high_quality", permission: "partial_members", embedding_model: "small" },
    metadata: { doc_metadata: [field], built_in_field_enabled: true },
    tags: { data: [{ id: "t1", name: "public" }], total: 1 },
  });
  return place;
}

test.runIf(inFull)(
  "a plan has everything of a dump that comes, in its order, one dataset for each form, and everything that does not",
  async () => {
    const source = await startSource();
    const dump = await dumpWithDetails(source.server);
    const [dataset, empty] = source.datasets;
    const [questions = "", text = ""] = idsOf(dataset);
    const parentsKey = `${dataset?.id}/hierarchical_model`;
    const progress = emptyWriteProgress();
    const { plan, warnings } = await planOf(dump, await startTarget(targetDataset("x", "Knowledge 1")), {
      progress,
    });
    const [rows] = dump.manifest.documents.filter(({ document_id }) => document_id === text);
    expect({ warnings, step: progress.step }).toEqual({ warnings: [], step: "asking the service" });
    expect(plan).toMatchObject({
      datasets: [
        {
          ...{ key: dataset?.id, dataset_id: dataset?.id, dataset_name: "Knowledge 1" },
          target: { kind: "new", name: "Knowledge 1 (2)" },
          settings: { indexing_technique: "high_quality", permission: "only_me", embedding_model: "small" },
          fields: [{ name: "author", type: "string" }],
          built_in_fields: true,
          tags: ["public"],
          losses: [{ part: "settings", rows: 1 }],
          documents: [
            {
              ...{
                document_id: questions,
                dataset_key: dataset?.id,
                document_name: `${questions}.md`,
                doc_form: "qa_model",
                doc_language: "English",
              },
              ...{ indexing_technique: "high_quality", process_rule: rule, refused: null, earlier: null },
              ...{ chunks: 2, disabled: 0, children: 0, archived: true, enabled: true },
              losses: [
                { part: "chunks", rows: 1 },
                { part: "states", rows: 2 },
              ],
              metadata: [{ name: "author", value: "Jo" }],
            },
          ],
        },
        {
          ...{ key: parentsKey, dataset_id: dataset?.id, dataset_name: "Knowledge 1", tags: ["public"] },
          target: { kind: "new", name: "Knowledge 1 (hierarchical_model)" },
          documents: [
            {
              ...{ document_id: text, dataset_key: parentsKey },
              ...{ doc_form: "hierarchical_model", archived: false, attachments: [], attached: 0 },
              ...{ chunks: 4, disabled: 1, children: 8 },
              losses: [
                { part: "chunks", rows: 1 },
                { part: "children", rows: 2 },
                { part: "attachments", rows: 1 },
                { part: "summaries", rows: 1 },
              ],
            },
          ],
        },
        { key: empty?.id, dataset_id: empty?.id, target: { kind: "new", name: "Knowledge 2" }, documents: [] },
      ],
    });
    expect(rows).toMatchObject({ chunk_count: 5, child_chunk_count: 10 });
    expect(countCopy(plan)).toMatchObject({ datasets: 3, documents: 2, left_out: 0, there: 0, chunks: 6, children: 8 });
    const same = await planOf(dump, await startTarget(), {
      baseUrl: dump.manifest.service.base_url,
      documents: [text],
    });
    expect(same.plan.datasets).toHaveLength(1);
    expect(same.plan.datasets[0]?.documents).toMatchObject([
      { document_id: text, attachments: [{ id: "file", file: null }], attached: 1 },
    ]);
  },
);

test.runIf(inFull)("a dump with the file of an attachment uploads it to another service", async () => {
  const file = { name: "figure.png", mime_type: "image/png", bytes: 3, sha256: "0".repeat(64) };
  const ids = { dataset_id: "d", document_id: "a", attachment_id: "file", chunk_id: "a1", file_id: "file" };
  const path = "originals/a/file-figure.png";
  const original = { ...ids, path, ...file, expected_bytes: 3, verdict: "complete", reason: null };
  const rows = [chunk("a", "a1", 1, "text", { attachments: [{ id: "file" }, { id: "lost" }] })];
  const dump = await detailedDump(rows, [], { manifest: { originals: [original] } });
  const { plan } = await planOf(dump, await startTarget());
  expect(plan.datasets[0]?.documents).toMatchObject([
    {
      attachments: [{ id: "file", file: { path: join(dump.folder, path), ...file } }],
      losses: [{ part: "attachments", rows: 1 }, { part: "process rule" }],
    },
  ]);
});

test("a service without a route for files gets no attachments, and the plan says so", async () => {
  const ids = { dataset_id: "d", document_id: "a", attachment_id: "file", chunk_id: "a1", file_id: "file" };
  const file = { name: "figure.png", mime_type: "image/png", bytes: 3, sha256: "0".repeat(64) };
  const original = { ...ids, path: "originals/a/file", ...file, expected_bytes: 3, verdict: "complete", reason: null };
  const rows = [chunk("a", "a1", 1, "text", { attachments: [{ id: "file" }] })];
  const dump = await detailedDump(rows, [], { manifest: { originals: [original] } });
  const { server, client } = await startPlace([]);
  const { plan } = await planOf(dump, client);
  expect(plan.datasets[0]?.documents).toMatchObject([
    {
      attachments: [],
      losses: [{ part: "attachments", rows: 1, reason: expect.stringContaining("no route") }, { part: "process rule" }],
    },
  ]);
  expect(server.requests.filter(({ path }) => path.endsWith("/file-upload"))).toHaveLength(1);
});

test.runIf(inFull)(
  "a dump in any lossless format leads to the same plan, with every text as the service sent it",
  async () => {
    const rows = [chunk("a", "a1", 1, "\ufeff"), chunk("a", "a2", 2, "\ufefftext", { attachments: [{ id: "f" }] })];
    const target = await startTarget();
    const planIn = async (format: "jsonl" | "csv" | "parquet") => {
      const dump = await detailedDump(rows, [child("a", "a2", "k1", "below")], { formats: [format] });
      return (await planOf(dump, target, { baseUrl: dump.manifest.service.base_url })).plan;
    };
    const plan = await planIn("jsonl");
    expect(plan.datasets[0]?.documents).toMatchObject([{ chunks: 1, children: 1, characters: 10, attached: 1 }]);
    expect(await planIn("csv")).toEqual(plan);
    expect(await planIn("parquet")).toEqual(plan);
  },
);

const copy = { target_id: "copy", target_dataset_id: "target" } as const;
const factsOf = (state: "begun" | "restored"): JournalFacts => ({
  ...noFacts,
  isBegun: true,
  datasets: new Map([["d", { id: "target", name: "Handbook" }]]),
  documents: new Map([["a", { ...copy, state }]]),
});

test.runIf(inFull)(
  "documents of an earlier process are continued; missing ones, or ones in another dataset, are copied again",
  async () => {
    const dump = await detailedDump([chunk("a", "a1", 1, "text"), chunk("b", "b1", 1, "text")]);
    const target = await startTarget(targetDataset("target", "Handbook", ["copy"]));
    const earlier = async (facts: JournalFacts) => {
      const { plan } = await planOf(dump, target, { facts });
      return plan.datasets.flatMap(({ documents }) => documents.map(({ earlier }) => earlier));
    };
    const known = (state: string) => [{ target_id: "copy", state }, null];
    expect(await earlier(factsOf("restored"))).toEqual(known("restored"));
    expect(await earlier(factsOf("begun"))).toEqual(known("begun"));
    for (const other of [{ target_id: "deleted" }, { target_dataset_id: "elsewhere" }]) {
      const documents = new Map([["a", { ...copy, state: "begun", ...other } as const]]);
      expect(await earlier({ ...factsOf("begun"), documents })).toEqual([null, null]);
    }
    const { plan } = await planOf(dump, await startTarget(), { facts: factsOf("restored") });
    expect(plan).toMatchObject({
      datasets: [{ target: { kind: "new", name: "dataset d" }, documents: [{ earlier: null }, { earlier: null }] }],
    });
  },
);

test.runIf(inFull)(
  "no copy counts as missing because of a list of documents that changes during the read",
  async () => {
    const { server, client, datasets } = await startPlace([101]);
    server.behaviour.onRequest = ({ path, query }) => {
      if (path.endsWith("/documents") && query.includes("page=1")) upload(datasets[0]);
    };
    const id = datasets[0]?.id ?? "";
    const facts: JournalFacts = {
      ...factsOf("restored"),
      datasets: new Map([["d", { id, name: "Handbook" }]]),
      documents: new Map([["a", { ...copy, target_dataset_id: id, state: "restored" }]]),
    };
    const { plan, warnings } = await planOf(await detailedDump([chunk("a", "a1", 1, "text")]), client, { facts });
    expect(warnings).toHaveLength(1);
    expect(plan.datasets[0]?.documents).toMatchObject([{ earlier: { target_id: "copy", state: "restored" } }]);
  },
);

test.runIf(inFull)("documents that a run did not read whole are left out, each with the reason", async () => {
  const rows = ["a", "b", "c"].map((id) => chunk(id, `${id}1`, 1, "text"));
  const ill = { a: { status: "unstable", error: "it moved" }, b: { doc_form: "hierarchical_model" } };
  const refusals = async (options: object) => {
    const { plan } = await planOf(await detailedDump(rows, [], { options, ill }), await startTarget());
    return plan.datasets.flatMap(({ documents }) => documents.map(({ refused }) => refused));
  };
  const unstable = "The run did not read all of it: it is unstable (it moved).";
  const none = "The run read no child chunks of it: the job has child_chunks: none.";
  expect(await refusals({ child_chunks: "none", datasets: "all" })).toEqual([unstable, null, none]);
  const filtered = "The run left out chunks of it: the job has a filter (status, keyword).";
  const datasets = [{ id: "d", status: ["completed"] }, { id: "e" }];
  expect(await refusals({ datasets })).toEqual([unstable, filtered, filtered]);
});

test.runIf(inFull)(
  "a document whose details the service did not give is left out; a list that is not whole is warned of",
  async () => {
    const { server, datasets } = await startPlace([2, 1]);
    const [first, second] = datasets;
    const ids = idsOf(first);
    const read = first?.documents.get(ids[0] ?? "");
    if (read) read.details = detailsOf(read.id);
    server.behaviour.faults = refusing(`/${second?.id}/documents`, 403, "forbidden", "No.");
    const { plan, warnings } = await planOf(await dumpWithDetails(server), await startTarget());
    expect(plan.datasets.map(({ documents }) => documents.map(({ refused }) => refused))).toEqual([
      [null, "The run has no details of it: the service did not return them."],
    ]);
    expect(warnings).toEqual([
      `the run may lack documents of the dataset "Knowledge 2" (${second?.id}): the service did not list all of them`,
    ]);
  },
);
