import { expect, test, vi } from "vitest";
import type { Listed, ListPage } from "../../../src/client/check-answer.js";
import type { Client } from "../../../src/client/open-client.js";
import { drawMoving } from "../moving/draw-moving.js";
import { play } from "../play.js";
import type { Sabotage } from "../read-all.js";

vi.mock("node:fs", async (original) => (await import("../files.js")).simulatedFs(await original()));
vi.mock("node:fs/promises", async (original) => (await import("../files.js")).simulatedPromises(await original()));

/** The judge must detect each sabotage within this many seeds. */
const seeds = 150;

type Breaking = NonNullable<Sabotage["client"]>;

/** Changes every page of chunks and children. */
const pages = (change: (page: ListPage) => ListPage): Breaking => {
  return (client) => ({
    ...client,
    chunks: async (...args) => change(await client.chunks(...args)),
    childChunks: async (...args) => change(await client.childChunks(...args)),
  });
};

/** Returns every page of chunks as it was at its first request. */
function remembering(client: Client): Client {
  const known = new Map<string, Promise<ListPage>>();
  const chunks: Client["chunks"] = (document, page, limit) => {
    const key = JSON.stringify([document.documentId, page, limit]);
    const answer = known.get(key) ?? client.chunks(document, page, limit);
    known.set(key, answer);
    return answer;
  };
  return { ...client, chunks };
}

/** Drops the last child of some chunks on each page. The sample mostly misses these chunks. */
function losingEmbedded(client: Client): Client {
  const without = (row: Listed): Listed => {
    const { child_chunks: children } = row;
    return Array.isArray(children) && /c\d*[24]0{5}$/.test(row.id)
      ? { ...row, child_chunks: children.slice(0, -1) }
      : row;
  };
  const chunks: Client["chunks"] = async (...args) => {
    const page = await client.chunks(...args);
    return { ...page, rows: page.rows.map(without) };
  };
  return { ...client, chunks };
}

test.each<[string, Breaking]>([
  ["loses a row and lowers the total", pages((page) => ({ ...page, rows: page.rows.slice(1), total: page.total - 1 }))],
  ["invents a row", pages((page) => ({ ...page, rows: page.rows.map((row) => ({ ...row, id: `${row.id}!` })) }))],
  ["changes a content", pages((page) => ({ ...page, rows: page.rows.map((row) => ({ ...row, content: "?" })) }))],
  ["sees no children", (client) => ({ ...client, childChunks: async () => ({ rows: [], total: 0, docForm: null }) })],
  ["does not look a second time", remembering],
  ["loses a child that a chunk embeds", losingEmbedded],
])("a client that %s is found out", async (_, client) => {
  for (let seed = 1; seed <= seeds; seed++) {
    const { wrong } = await play(drawMoving(seed), undefined, { client });
    if (wrong.length > 0) return;
  }
  expect.fail(`not found out in ${seeds} seeds`);
});
