import { expect, test } from "vitest";
import { ask, rowsFrom } from "../../demo/ask.js";
import { uuid } from "../../demo/small-knowledge.js";
import { type EmptyService, startEmpty } from "./empty-service.js";

const listed = async ({ service }: EmptyService) => rowsFrom(JSON.parse((await ask(service, "/datasets/tags")).text));

test("a tag is created, even twice with the same name, and listed with the number of its datasets", async () => {
  const place = await startEmpty();
  expect(await listed(place)).toEqual([]);
  const { status, body } = await place.send("POST", "/tags", { name: "Manuals" });
  expect([status, body]).toEqual([
    200,
    { id: expect.any(String), name: "Manuals", type: "knowledge", binding_count: 0 },
  ]);
  const second = (await place.send("POST", "/tags", { name: "Manuals" })).body;
  expect(second.id).not.toBe(body.id);
  expect(await listed(place)).toEqual([
    { ...second, binding_count: "0" },
    { ...body, binding_count: "0" },
  ]);
});

test("a tag is bound to datasets, at most once to each, and they show it", async () => {
  const place = await startEmpty();
  const { send, newDataset } = place;
  const [one, two] = [await newDataset(), await newDataset()];
  const ids: unknown[] = [];
  for (const name of ["first", "second"]) ids.push((await send("POST", "/tags", { name })).body.id);
  const bind = (tag_ids: unknown, target_id: unknown) => send("POST", "/tags/binding", { tag_ids, target_id });
  expect((await bind(ids, one)).status).toBe(204);
  expect((await bind([ids[1], ids[1]], two)).status).toBe(204);
  await bind([ids[0]], one);
  expect((await send("GET", `/${one}/tags`)).body).toEqual({
    data: [
      { id: ids[0], name: "first" },
      { id: ids[1], name: "second" },
    ],
    total: 2,
  });
  expect((await send("GET", `/${two}`)).body.tags).toEqual([{ id: ids[1], name: "second", type: "knowledge" }]);
  expect(await listed(place)).toMatchObject([
    { name: "second", binding_count: "2" },
    { name: "first", binding_count: "1" },
  ]);
  await send("DELETE", `/${two}`);
  expect(await listed(place)).toMatchObject([{ binding_count: "1" }, { binding_count: "1" }]);
});

test("a wrong name, an unknown tag and an unknown dataset are refused", async () => {
  const place = await startEmpty();
  const { send, newDataset } = place;
  for (const name of ["", "x".repeat(51), null]) expect((await send("POST", "/tags", { name })).status).toBe(400);
  const dataset = await newDataset();
  const { id } = (await send("POST", "/tags", { name: "x".repeat(50) })).body;
  const bind = async (body: object) => (await send("POST", "/tags/binding", body)).status;
  expect(await bind({ tag_ids: [id, uuid(9)], target_id: dataset })).toBe(404);
  expect(await bind({ tag_ids: [id], target_id: uuid(9) })).toBe(404);
  expect(await bind({ tag_ids: [], target_id: dataset })).toBe(400);
  expect((await send("GET", `/${dataset}/tags`)).body.total).toBe(0);
});
