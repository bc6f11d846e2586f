import { describe, expect, it } from "vitest";
import { inFull } from "../rounds.js";
import { ask, closeAfterEach, serveDocument } from "./ask.js";
import { reindex } from "./edits.js";
import { findChunk, makeDocument } from "./store.js";

closeAfterEach();
const uuidShape = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("makeDocument", () => {
  it("is reproducible by seed, with distinct UUIDs, and floats, nulls, gaps and collisions like real servers", () => {
    const options = { chunks: 400, childrenPerChunk: 3, docForm: "hierarchical_model", seed: 7 } as const;
    const document = makeDocument(options);
    expect(makeDocument(options)).toEqual(document);
    const children = [...document.children.values()].flat();
    const ids = [...document.chunks, ...children].map(({ id }) => id);
    expect(new Set(ids).size).toBe(1_600);
    expect(ids.every((id) => uuidShape.test(id))).toBe(true);
    const nulls = ["answer", "keywords", "index_node_id", "index_node_hash", "updated_by", "indexing_at"];
    nulls.push("completed_at", "disabled_at", "disabled_by", "error", "summary");
    for (const field of nulls)
      expect(
        document.chunks.some((chunk) => chunk[field] === null),
        field,
      ).toBe(true);
    const values = (field: string) => document.chunks.map((chunk) => chunk[field]);
    expect(values("completed_at").some((time) => time !== null && !Number.isInteger(time))).toBe(true);
    expect(values("attachments").some((list) => Array.isArray(list) && list.length > 0)).toBe(true);
    const steps = document.chunks.slice(1).map((chunk, at) => Number(chunk.position) - Number(values("position")[at]));
    expect([Math.min(...steps), Math.max(...steps) > 1, document.chunks[0]?.position]).toEqual([0, true, 1]);
    expect(document.chunks.every((chunk) => chunk.child_chunks === document.children.get(chunk.id))).toBe(true);
  });

  it("leaves out fields that old servers lack, and embeds children only if configured", () => {
    const old = makeDocument({ chunks: 3, variant: "old" });
    expect(old.chunks.map((chunk) => Object.keys(chunk).length)).toEqual([21, 21, 21]);
    const full = { chunks: 2, childrenPerChunk: 2, docForm: "hierarchical_model", embedChildren: false };
    expect(makeDocument(full).chunks.map((chunk) => chunk.child_chunks)).toEqual([[], []]);
  });
});

describe("findChunk", () => {
  it("finds chunks after any edit of the list", () => {
    const document = makeDocument({ chunks: 5 });
    const [first, second] = document.chunks;
    expect(findChunk(document, second?.id ?? "")).toBe(second);
    document.chunks.shift();
    expect(findChunk(document, first?.id ?? "")).toBeUndefined();
    expect(findChunk(document, second?.id ?? "")).toBe(second);
  });
});

describe("reindex", () => {
  it("assigns new ids, and positions from 1, to the same contents and their children", () => {
    const document = makeDocument({ chunks: 20, childrenPerChunk: 2, docForm: "hierarchical_model" });
    const before = document.chunks;
    reindex(document, 99);
    expect(document.chunks.map(({ content }) => content)).toEqual(before.map(({ content }) => content));
    expect(document.chunks.map(({ position }) => position)).toEqual(before.map((_, at) => at + 1));
    expect(document.chunks.some(({ id }, at) => id === before[at]?.id)).toBe(false);
    const children = [...document.children.values()].flat();
    expect(new Set(children.map(({ id }) => id)).size).toBe(40);
    for (const chunk of document.chunks) expect(chunk.child_chunks).toBe(document.children.get(chunk.id));
  });
});

it.runIf(inFull)("serves a document of 20,000 chunks fast", { timeout: 60_000 }, async () => {
  const { server, list, document } = await serveDocument({ chunks: 20_000 }, { cacheBodies: true });
  const read = async () => {
    let rows = 0;
    for (let page = 1; page <= 200; page += 8) {
      const pages = Array.from({ length: 8 }, (_, at) => ask(server, `${list}?page=${page + at}&limit=100`));
      for (const { json } of await Promise.all(pages)) rows += (json.data as unknown[]).length;
    }
    return rows;
  };
  expect(await read()).toBe(20_000);
  expect(server.maxInFlight).toBe(8);
  const size = JSON.stringify(document.chunks.slice(0, 1_000)).length / 1_000;
  expect(size).toBeGreaterThan(1_300);
  expect(size).toBeLessThan(2_500);
});
