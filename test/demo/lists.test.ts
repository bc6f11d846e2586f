import { describe, expect, it } from "vitest";
import { ask, read, readRows, started } from "./ask.js";
import { segments, smallKnowledge, uuid } from "./small-knowledge.js";

const hundredAndOne = Array.from({ length: 101 }, (_, index) => `child ${index + 1}`);
const childList = `${segments}/${uuid(101)}/child_chunks`;

describe("paging", () => {
  it.each([
    ["", 1, 20, 20, true],
    ["?page=6", 6, 20, 1, false],
    ["?page=7", 7, 20, 0, false],
    ["?limit=100", 1, 100, 100, true],
    ["?limit=101", 1, 100, 100, true],
    ["?limit=5000&page=2", 2, 100, 1, false],
    ["?limit=1&page=101", 101, 1, 1, false],
  ])(
    "of 101 rows, %j is page %i of %i rows each with %i of them, and more: %j",
    async (query, page, limit, count, more) => {
      const service = await started({ knowledge: smallKnowledge(hundredAndOne.map(() => ({}))) });
      const body = await read(service, `${segments}${query}`);
      expect(body).toMatchObject({ page, limit, total: 101, has_more: more });
      expect(body.data).toHaveLength(count);
    },
  );

  it("a full last page reports that there are no more", async () => {
    const service = await started({ knowledge: smallKnowledge(hundredAndOne.slice(1).map(() => ({}))) });
    expect(await read(service, `${segments}?limit=100`)).toMatchObject({ total: 100, has_more: false });
    expect(await read(service, `${segments}?limit=50`)).toMatchObject({ total: 100, has_more: true });
  });

  it("counts the pages of a child list", async () => {
    const service = await started({ knowledge: smallKnowledge([{ childContents: hundredAndOne }]) });
    expect(await read(service, `${childList}?limit=200&page=2`)).toMatchObject({
      total: 101,
      total_pages: 2,
      limit: 100,
    });
    expect(await read(service, `${childList}?limit=101`)).toMatchObject({ total_pages: 2 });
  });

  it.each([
    "page=0",
    "page=-1",
    "page=1.5",
    "page=",
    "page=two",
    "page=1e3",
    "limit=0",
    "limit=-20",
    "limit=NaN",
    "limit=0x10",
  ])("refuses %s", async (query) => {
    const service = await started({ knowledge: smallKnowledge([{}]) });
    for (const list of [segments, childList, "/datasets", segments.replace(/\/[^/]+\/segments$/, "")]) {
      const { status, text } = await ask(service, `${list}?${query}`);
      expect(status, list).toBe(400);
      const message = `${query.split("=")[0]} must be a whole number from 1.`;
      expect(JSON.parse(text)).toEqual({ code: "invalid_param", message, status: 400 });
    }
  });
});

describe("order", () => {
  it("is by position, then by id", async () => {
    const service = await started({ knowledge: smallKnowledge([{ position: 7 }, { position: 2 }, { position: 2 }]) });
    const rows = await readRows(service, segments);
    expect(rows.map(({ id }) => id)).toEqual([uuid(102), uuid(103), uuid(101)]);
  });
});

describe("filters", () => {
  const chunks = [
    { content: "Über ALLES", status: "completed" },
    { content: "nothing here", status: "error" },
    { content: "über Nacht", status: "waiting" },
    { content: "", status: "completed", answer: "über" },
  ];
  it.each([
    ["", [1, 2, 3, 4]],
    ["status=error", [2]],
    ["status=error&status=waiting", [2, 3]],
    ["status=completed", [1, 4]],
    ["status=unheard-of", []],
    ["keyword=ÜBER", [1, 3]],
    ["keyword=%C3%BCber", [1, 3]],
    ["keyword=all", [1]],
    ["keyword=", [1, 2, 3, 4]],
    ["keyword=nothing+here", [2]],
    ["keyword=über&status=waiting&status=error", [3]],
  ])("of chunks: %j finds %j", async (query, positions) => {
    const service = await started({ knowledge: smallKnowledge(chunks) });
    const body = await read(service, `${segments}?${query}`);
    expect(body.total).toBe(positions.length);
    expect(body.data).toMatchObject(positions.map((position) => ({ position })));
  });

  it("of child chunks: keyword", async () => {
    const service = await started({ knowledge: smallKnowledge([{ childContents: ["Eins", "zwei", "EINSam"] }]) });
    expect(await read(service, `${childList}?keyword=eins&limit=1`)).toMatchObject({ total: 2, total_pages: 2 });
    expect(await readRows(service, `${childList}?keyword=eins`)).toMatchObject([{ position: 1 }, { position: 3 }]);
  });
});

describe("rows", () => {
  it("are answered as they are: null, absent, mistyped and undescribed fields alike", async () => {
    const row = { content: "x", answer: null, tokens: "many", error: { at: [1.5] }, surprise: [null] };
    const service = await started({ knowledge: smallKnowledge([row]) });
    expect(await readRows(service, segments)).toEqual([{ id: uuid(101), position: 1, status: "completed", ...row }]);
  });
});
