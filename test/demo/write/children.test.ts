import { expect, test } from "vitest";
import { rowsFrom } from "../ask.js";
import { uuid } from "../small-knowledge.js";
import { refused, start, startWriting, type Writing } from "./writing.js";

const [parent, other] = [uuid(101), uuid(102)];
const [one, two] = [uuid(1001), uuid(1002)];
const sketches = [{ updated_at: 1, childContents: ["One.", "Two."] }, {}];
const hierarchical = { form: "hierarchical_model", technique: "high_quality", embedsChildren: true };
const children = `/${parent}/child_chunks`;

const listed = async ({ send }: Writing) => rowsFrom((await send("GET", children)).body.data);

/** Returns the child list and checks that the chunk embeds the same children. */
async function embedded(writing: Writing) {
  const rows = await listed(writing);
  const [chunk] = await writing.list();
  expect(chunk).toMatchObject({ id: parent, updated_at: 1, child_chunks: rows });
  return rows;
}

test("a child chunk is added at the end, as customized", async () => {
  const writing = await startWriting(sketches, hierarchical);
  const { status, body } = await writing.send("POST", children, { content: " by hand " });
  const made = { segment_id: parent, content: " by hand ", position: 3, type: "customized", word_count: 9 };
  expect(status).toBe(200);
  expect(body.data).toEqual({ id: expect.any(String), ...made, created_at: start, updated_at: start });
  expect((await embedded(writing)).at(-1)).toEqual(body.data);
  expect((await writing.send("POST", `/${other}/child_chunks`, { content: "x" })).body.data).toMatchObject({
    position: 1,
  });
});

test("a changed child chunk is customized from then on, and keeps its place", async () => {
  const writing = await startWriting(sketches, hierarchical);
  const { status, body } = await writing.send("PATCH", `${children}/${one}`, { content: "by hand" });
  expect(status).toBe(200);
  expect(body.data).toMatchObject({ id: one, content: "by hand", position: 1, type: "customized", updated_at: start });
  expect(await embedded(writing)).toEqual([body.data, expect.objectContaining({ id: two, type: "automatic" })]);
});

test("a deleted child chunk is gone", async () => {
  const writing = await startWriting(sketches, hierarchical);
  expect((await writing.send("DELETE", `${children}/${one}`)).status).toBe(204);
  expect(await embedded(writing)).toMatchObject([{ id: two }]);
  await writing.send("DELETE", `${children}/${two}`);
  expect(await embedded(writing)).toEqual([]);
});

test("a document that does not embed children keeps them only in their list", async () => {
  const writing = await startWriting(sketches);
  await writing.send("POST", children, { content: "by hand" });
  expect(await listed(writing)).toHaveLength(3);
  expect((await writing.list())[0]).not.toHaveProperty("child_chunks");
});

test("nothing is stored of a child chunk that cannot be indexed", async () => {
  const writing = await startWriting(sketches, hierarchical, { childIndexFails: (content) => content === "bad" });
  const before = await listed(writing);
  const message = "Create child chunk index failed: the model did not answer";
  for (const [method, path] of [
    ["POST", children],
    ["PATCH", `${children}/${one}`],
  ] as const)
    expect(await writing.send(method, path, { content: "bad" })).toMatchObject(
      refused(message, 500, "child_chunk_indexing_error"),
    );
  expect(await listed(writing)).toEqual(before);
});

test("a request for something unknown is 404", async () => {
  const { send } = await startWriting(sketches, hierarchical);
  const unknown: [string, string, string][] = [
    ["POST", `/${uuid(9)}/child_chunks`, "Segment not found."],
    ["PATCH", `/${uuid(9)}/child_chunks/${one}`, "Segment not found."],
    ["DELETE", `/${uuid(9)}/child_chunks/${one}`, "Segment not found."],
    ["PATCH", `${children}/${uuid(9)}`, "Child chunk not found."],
    ["DELETE", `${children}/${uuid(9)}`, "Child chunk not found."],
    ["DELETE", `/${other}/child_chunks/${one}`, "Child chunk not found."],
  ];
  for (const [method, path, message] of unknown) {
    const body = method === "DELETE" ? undefined : { content: "x" };
    expect(await send(method, path, body)).toMatchObject(refused(message, 404, "not_found"));
  }
});
