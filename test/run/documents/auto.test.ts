import { readdir, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { StopError } from "../../../src/errors.js";
import { emptyRunProgress } from "../../../src/job/run-progress.js";

import { runJob } from "../../../src/run/run-job.js";
import { sumOfChildLists } from "../../../src/segments/document-result.js";
import { inFull } from "../../rounds.js";
import type { Behaviour } from "../../servers/behaviour.js";
import { rawNumber } from "../../servers/json.js";
import { startRealisticServer } from "../../servers/realistic-server.js";
import { makeDocument, Store, type TestDocument } from "../../servers/store.js";
import { jobFor, testFolder, workOf } from "../job-for.js";
import { readJsonl } from "../read-dump.js";

const files = ["chunks.jsonl", "child_chunks.jsonl", "chunks.csv", "child_chunks.csv"];
const contentsOf = (folder: string) => Promise.all(files.map((name) => readFile(join(folder, name), "utf8")));

async function startPlace(documents: readonly TestDocument[], more: Record<string, unknown> = {}) {
  const store = new Store();
  const dataset = store.addDataset(...documents);
  const behaviour: Behaviour = {};
  const server = await startRealisticServer(store, behaviour);
  onTestFinished(() => server.close());
  const folder = await testFolder();
  const run = async (name: string, childChunks: "all" | "auto" | "none" = "auto", progress = emptyRunProgress()) => {
    const job = await jobFor(folder, {
      name,
      service: { base_url: server.url, concurrency: 4, retries: 0 },
      datasets: [{ id: dataset.id, documents: [...dataset.documents.keys()] }],
      child_chunks: childChunks,
      output: { dir: join(folder, "out"), formats: ["jsonl", "csv"] },
      ...more,
    });
    return runJob(job, { env: { KNOWLEDGE_API_KEY: server.key }, progress });
  };
  const asked = (end: string) => server.requests.filter(({ path }) => path.endsWith(end)).length;
  return { server, behaviour, run, asked, segments: (name: string) => join(folder, "out", name, ".work") };
}

const hierarchical = (seed: number, chunks = 120) =>
  makeDocument({ chunks, seed, docForm: "hierarchical_model", childrenPerChunk: (at) => (at === 105 ? 230 : at % 3) });

test.runIf(inFull)(
  "embedded children are written as their lists would have them, including exact numbers and unknown fields",
  async () => {
    const document = hierarchical(1, 40);
    for (const children of document.children.values()) {
      for (const child of children)
        Object.assign(child, { score: rawNumber("0.1234567890123456789"), "\u2028": "\ud800" });
    }
    const { run } = await startPlace([document]);
    const [all, auto] = [await run("all", "all"), await run("auto")];
    expect(await contentsOf(auto.folder)).toEqual(await contentsOf(all.folder));
    expect(auto.manifest.child_lists[0]?.embedded).toBeGreaterThan(20);
    expect(auto.manifest.drift).toEqual(all.manifest.drift);
  },
);

test.runIf(inFull)("a run with all reports what auto would have missed, and auto misses it", async () => {
  const { run, asked } = await startPlace([
    makeDocument({ chunks: 101, seed: 1, childrenPerChunk: (at) => (at === 7 ? 3 : 0) }),
    makeDocument({ chunks: 30, seed: 2 }),
    makeDocument({ chunks: 3, seed: 3, docForm: "graph_model" }),
  ]);
  const all = await run("all", "all");
  expect(sumOfChildLists(all.manifest.child_lists)).toEqual({
    asked: 134,
    embedded: 0,
    skipped: 0,
    empty: 133,
    auto_saves: 96 + 25,
    auto_misses: 3,
  });
  const before = asked("/child_chunks");
  const { manifest } = await run("auto");
  expect(asked("/child_chunks") - before).toBe(before - (96 + 25));
  expect(manifest.counts.child_chunks).toBe(all.manifest.counts.child_chunks - 3);
  expect((await run("none", "none")).manifest.child_lists).toEqual([]);
});

test.runIf(inFull)("the progress of a run ends at all that there is to be asked", async () => {
  const { run } = await startPlace([
    makeDocument({ chunks: 101, seed: 1, docForm: "hierarchical_model", childrenPerChunk: (at) => at % 3 }),
    makeDocument({ chunks: 1, seed: 2, docForm: "hierarchical_model", childrenPerChunk: 2 }),
    makeDocument({ chunks: 101, seed: 3 }),
    makeDocument({ chunks: 40, seed: 4, childrenPerChunk: 1 }),
    makeDocument({ chunks: 0, seed: 5 }),
  ]);
  for (const childChunks of ["all", "auto", "none"] as const) {
    const progress = emptyRunProgress();
    const { manifest } = await run(childChunks, childChunks, progress);
    expect(progress).toMatchObject({ pagesDone: progress.pagesExpected, documentsBegun: 5 });
    expect(progress.pagesDone).toBe(manifest.requests.sent - 1 - 4); // without the request for metadata fields and the four pages that are read again
  }
});

test.runIf(inFull)(
  "an embedded child that is nested too deeply does not matter if the lists are read; otherwise its document fails",
  async () => {
    const [document, other] = [hierarchical(1, 10), makeDocument({ chunks: 3, seed: 2 })];
    const [, chunk] = document.chunks;
    const [child] = document.children.get(chunk?.id ?? "") ?? [];
    if (chunk && child)
      chunk.child_chunks = [{ ...child, deep: rawNumber(`${"[".repeat(20_000)}${"]".repeat(20_000)}`) }];
    const { run } = await startPlace([document, other]);
    expect((await run("all", "all")).manifest.status).toBe("complete");
    const { manifest } = await run("auto");
    expect(manifest.documents.map(({ status }) => status)).toEqual(["failed", "complete"]);
    expect(manifest.documents[0]?.error).toBe("a record is nested too deeply to be written");
  },
);

describe("a run that breaks off again and again", () => {
  const refused = { kind: "status", status: 401, body: "json" } as const;

  test.runIf(inFull)("ends like an undisturbed run, and requests little twice", async () => {
    const { run, server, behaviour, segments } = await startPlace([
      hierarchical(1, 320),
      makeDocument({ chunks: 250, seed: 2 }),
      hierarchical(3),
      makeDocument({ chunks: 60, seed: 4, childrenPerChunk: (at) => at % 2 }),
    ]);
    const undisturbed = await run("undisturbed");
    const needed = server.requests.length;
    server.reset();
    for (const requests of [2, 7, 25, 40, 60, 30]) {
      let answered = 0;
      behaviour.faults = () => (++answered > requests ? refused : undefined);
      await expect(run("test")).rejects.toThrow(StopError);
    }
    delete behaviour.faults;
    const { folder, manifest } = await run("test");
    expect(await contentsOf(folder)).toEqual(await contentsOf(undisturbed.folder));
    expect(manifest.documents).toEqual(undisturbed.manifest.documents);
    expect(manifest.child_lists).toEqual(undisturbed.manifest.child_lists);
    const answered = server.requests.filter(({ status }) => status === 200).length;
    expect(answered).toBeGreaterThanOrEqual(needed);
    expect(answered).toBeLessThan(needed * 1.1 + 6 * (4 + 4 * 4));
    expect(await readdir(segments("test"))).toEqual(["indexing_status"]);
  });

  const losses: readonly [string, (segments: string) => Promise<void>][] = [
    ["the embedded children were lost", (segments) => truncate(join(segments, "0000001.aside"), 10)],
    [
      "the journal tells nothing of the children, as that of an earlier version",
      async (segments) => {
        const path = join(segments, "0000001.journal");
        const text = await readFile(path, "utf8");
        await writeFile(path, text.replaceAll('"children":', '"unknown":'));
      },
    ],
  ];

  test.runIf(inFull)("reads a document again if a part was lost", async () => {
    const { run, behaviour, segments } = await startPlace([hierarchical(1, 320)]);
    const undisturbed = await contentsOf((await run("undisturbed")).folder);
    for (const [at, [loss, lose]] of losses.entries()) {
      const name = `test-${at}`;
      let answered = 0;
      behaviour.faults = () => (++answered > 90 ? refused : undefined);
      await expect(run(name)).rejects.toThrow(StopError);
      delete behaviour.faults;
      await lose(join(await workOf(segments(name)), "segments"));
      const { folder } = await run(name);
      expect(await contentsOf(folder), loss).toEqual(undisturbed);
    }
  });
});

describe("with consistency: sweeps", () => {
  const sweeps = { consistency: "sweeps" };

  test.runIf(inFull)("chunk pages are read twice, and requested lists if they have more than one page", async () => {
    const document = hierarchical(1, 201);
    const hidden = document.chunks[90];
    if (hidden) hidden.child_chunks = []; // if the chunk embedded children and its list had 230 others, that would be another case
    document.children.set(hidden?.id ?? "", document.children.get(document.chunks[105]?.id ?? "") ?? []);
    const { run, asked } = await startPlace([document], sweeps);
    const { manifest } = await run("auto");
    expect(manifest.documents[0]).toMatchObject({ status: "complete", sweeps: 2 });
    const { asked: lists = 0 } = manifest.child_lists[0] ?? {};
    const sampledPages = 2; // the further pages of the largest list
    expect({ pages: asked("/segments"), lists: asked("/child_chunks") }).toEqual({
      pages: 6,
      lists: lists + sampledPages + 2 + 3,
    });
  });

  test.runIf(inFull).each<[string, (document: TestDocument) => void]>([
    [
      "edited",
      ({ chunks, children }) => {
        const [child] = children.get(chunks[1]?.id ?? "") ?? [];
        if (child) child.content = "edited";
      },
    ],
    [
      "added",
      ({ chunks, children }) => {
        const own = children.get(chunks[1]?.id ?? "");
        own?.push({ ...own[0], id: "a child more" });
      },
    ],
    [
      "deleted",
      ({ chunks, children }) => {
        children.get(chunks[1]?.id ?? "")?.pop();
      },
    ],
  ])("an embedded child that is %s behind the crawl is seen, and the document read again", async (_, edit) => {
    const document = hierarchical(1, 150);
    const { run, behaviour } = await startPlace([document], sweeps);
    let lists = 0;
    behaviour.onRequest = ({ path, query }) => {
      if (path.endsWith("/child_chunks")) lists++;
      else if (lists > 0 && query.startsWith("page=1")) {
        lists = Number.NEGATIVE_INFINITY; // the start of the second sweep; only the first time
        edit(document);
      }
    };
    const { manifest, folder } = await run("auto");
    expect(manifest.documents[0]).toMatchObject({ status: "complete", sweeps: 4, error: null });
    const rows = await readJsonl(folder, "child_chunks");
    const now = document.chunks.flatMap(({ id }) => document.children.get(id) ?? []);
    expect(rows.map(({ id, content }) => [id, content])).toEqual(now.map(({ id, content }) => [id, content]));
  });

  test("a child that appears in a document without any is seen", async () => {
    const document = makeDocument({ chunks: 150, seed: 1, docForm: "text_model" });
    const { run, behaviour } = await startPlace([document], sweeps);
    let pages = 0;
    behaviour.onRequest = ({ path }) => {
      const [, , chunk] = document.chunks;
      if (!path.endsWith("/segments") || ++pages !== 3 || !chunk) return;
      const child = { id: "child", segment_id: chunk.id, position: 1, content: "new" };
      document.children.set(chunk.id, [child]);
      chunk.child_chunks = [child];
    };
    const { manifest } = await run("auto");
    expect(manifest.documents[0]).toMatchObject({ status: "complete", sweeps: 4, child_chunk_count: 1 });
    expect(manifest.child_lists[0]?.reason).toBe("some chunks embed children, which is not usual in text_model");
  });
});

test("a changing document is read again, with its current embedded children", async () => {
  const document = hierarchical(1, 250);
  const { run, behaviour } = await startPlace([document]);
  behaviour.onRequest = ({ path, query, nth }) => {
    if (path.endsWith("/segments") && query.startsWith("page=3") && nth === 0) document.chunks.splice(0, 30);
  };
  const { manifest, folder } = await run("auto");
  expect(manifest.documents[0]).toMatchObject({ status: "complete", chunk_count: 220 });
  const ids = document.chunks.flatMap(({ id }) => (document.children.get(id) ?? []).map((child) => child.id));
  expect((await readJsonl(folder, "child_chunks")).map(({ id }) => id)).toEqual(ids);
});
