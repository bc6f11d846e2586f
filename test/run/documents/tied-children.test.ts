import { expect, test } from "vitest";
import { inFull } from "../../rounds.js";
import { makeDocument, type TestDocument } from "../../servers/store.js";
import { idsOf, startPlace } from "./proving.js";

/** One chunk with 750 children in the same position; the service lists them in a different order each time. */
function makeTied(): TestDocument {
  const document = makeDocument({
    chunks: 3,
    docForm: "hierarchical_model",
    childrenPerChunk: (at) => (at === 1 ? 750 : 2),
  });
  for (const child of document.children.get(document.chunks[1]?.id ?? "") ?? []) child.position = 1;
  return document;
}

const childIds = (document: TestDocument) =>
  idsOf(document.chunks.flatMap(({ id }) => document.children.get(id) ?? []));

test.runIf(inFull).each(["all", "auto"])(
  "child_chunks: %s: children that the list never gives whole come from their chunk",
  async (mode) => {
    const document = makeTied();
    const { run } = await startPlace([document], { ties: "shuffled" });
    const { manifest, children } = await run({ child_chunks: mode });
    expect(manifest.documents[0]).toMatchObject({ status: "complete", child_chunk_count: 754, error: null });
    expect(idsOf(children)).toEqual(childIds(document));
  },
);

test.runIf(inFull)("auto reads 250 tied children from the chunk without reading all lists", async () => {
  const document = makeTied();
  const { run, server } = await startPlace([document], { ties: "shuffled" });
  const { manifest } = await run({ child_chunks: "auto" });
  expect(manifest.child_lists[0]?.reason).toContain("lists asked for as a sample: the same");
  expect(server.requests.filter(({ path }) => path.endsWith("/child_chunks"))).toHaveLength(1 + 8 + 1);
});

test.runIf(inFull).each<[string, (rows: readonly { readonly id: string }[]) => readonly unknown[]]>([
  ["embeds none of them", () => []],
  ["embeds only twenty", (rows) => rows.slice(0, 20)],
  ["embeds others in place of some", (rows) => rows.map((row, at) => (at < 100 ? { id: `another ${at}` } : row))],
  ["embeds one of them twice", (rows) => rows.with(5, rows[6] ?? { id: "" })],
])("where the chunk %s, the document is unstable", async (_, embed) => {
  const document = makeTied();
  const [, chunk] = document.chunks;
  const own = document.children.get(chunk?.id ?? "") ?? [];
  if (chunk) chunk.child_chunks = JSON.parse(JSON.stringify(embed(own)));
  const { run } = await startPlace([document], { ties: "shuffled" });
  const { manifest } = await run();
  expect(manifest.documents[0]?.status).toBe("unstable");
  expect(manifest.documents[0]?.error).toMatch(/children of chunk/);
});

test("children that come whole are taken from the list, whatever the chunk embeds", async () => {
  const document = makeTied();
  const [, chunk] = document.chunks;
  const own = document.children.get(chunk?.id ?? "") ?? [];
  for (const [at, child] of own.entries()) child.position = at + 1;
  if (chunk) chunk.child_chunks = own.map((child) => ({ ...child, content: "older" }));
  const { run } = await startPlace([document]);
  const { manifest, children } = await run();
  expect(manifest.documents[0]).toMatchObject({ status: "complete", sweeps: 2 });
  expect(children.filter(({ content }) => content === "older")).toEqual([]);
});
