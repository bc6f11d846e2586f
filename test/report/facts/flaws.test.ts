import fc from "fast-check";
import { expect, test } from "vitest";
import { gatherFlaws } from "../../../src/report/facts/flaws.js";
import { mostRows } from "../../../src/report/lost-facts.js";
import { tablesOf } from "../../compare/diff/dumps.js";
import { plainFolder } from "../../dump/formats/folder.js";
import type { Tables } from "../../dump/formats/stage.js";
import { rounds } from "../../rounds.js";
import { child, chunk, info } from "../../verify/sound-tables.js";
import { writeDump } from "../../verify/write-dump.js";
import { gathered } from "./gather.js";

const flawsOf = async (tables: Tables, content = true) =>
  gathered(await writeDump(await plainFolder(), tables), gatherFlaws, { content });

test("contents that stand in several chunks are duplicates, those that cost the most first; blank ones are none", async () => {
  const chunks = [
    chunk("a", "a1", { content: "same", answer: "" }),
    chunk("a", "a2", { content: "same", answer: null, position: 2 }),
    chunk("a", "a3", { content: " \n\t" }),
    chunk("a", "a4", { content: " \n\t" }),
    chunk("a", "a5", { content: null }),
    chunk("a", "a6", { content: null }),
    chunk("a", "a7", { content: "once" }),
    chunk("b", "b1", { content: "same", answer: "other" }),
    chunk("b", "b2", { content: "a longer text", position: 7, word_count: 13 }),
    chunk("b", "b3", { content: "a longer text", position: 8, word_count: 13 }),
  ];
  const { duplicates, copies } = await flawsOf({ ...tablesOf(chunks), document_info: [info("b", { name: "Guide" })] });
  const place = { dataset_id: "d", dataset_name: null };
  expect(duplicates).toMatchObject({
    total: 2,
    rows: [
      {
        copies: 2,
        documents: 1,
        answers: 1,
        characters: 13,
        first: { ...place, document_id: "b", document_name: "Guide", id: "b2", position: 7 },
        beginning: "a longer text",
      },
      {
        copies: 3,
        documents: 2,
        answers: 2,
        characters: 8,
        first: { ...place, document_id: "a", document_name: null, id: "a1", position: 1 },
        beginning: "same",
      },
    ],
  });
  expect(copies).toEqual({ chunks: 3, characters: 21 });
});

test("duplicates of random chunks are those that a plain count finds", async () => {
  const contents = fc.array(fc.constantFrom(null, "", " ", "one", "two", "three", "一", "😀", "One"), {
    maxLength: 25,
  });
  await fc.assert(
    fc.asyncProperty(contents, async (texts) => {
      const chunks = texts.map((content, at) => chunk(at % 2 ? "a" : "b", `c${at}`, { content, position: at }));
      const { duplicates, copies } = await flawsOf(tablesOf(chunks));
      const copiesOf = (text: string) => texts.filter((each) => each === text);
      const distinct = [...new Set(texts)].filter((text) => text !== null).filter((text) => text.trim() !== "");
      const expected = distinct.map((text) => [text, copiesOf(text)] as const).filter(([, { length }]) => length > 1);
      expect(new Map(duplicates.rows.map(({ beginning, copies }) => [beginning, copies]))).toEqual(
        new Map(expected.map(([text, { length }]) => [text, length])),
      );
      const sum = (of: (text: string, copies: number) => number) =>
        expected.reduce((all, [text, { length }]) => all + of(text, length - 1), 0);
      const characters = sum((text, copies) => [...text].length * copies);
      expect(copies).toEqual({ chunks: sum((_, copies) => copies), characters });
    }),
    { numRuns: rounds(8, 200) },
  );
});

test("a child chunk is an orphan if its own document has no such parent", async () => {
  const chunks = [chunk("a", "a1"), chunk("b", "b1")];
  const children = [
    child("a", "a1", "k1"),
    child("a", "b1", "k2", { content: "of another document", position: 3 }),
    child("b", "gone", "k3", { dataset_id: "e" }),
  ];
  const { orphans } = await flawsOf(tablesOf(chunks, children));
  expect(orphans.total).toBe(2);
  const found = { dataset_name: null, document_name: null };
  expect(orphans.rows).toEqual([
    {
      ...found,
      dataset_id: "d",
      document_id: "a",
      segment_id: "b1",
      id: "k2",
      position: 3,
      beginning: "of another document",
    },
    { ...found, dataset_id: "e", document_id: "b", segment_id: "gone", id: "k3", position: 1, beginning: "text" },
  ]);
});

test("chunks are in error by their status or by an error; disabled are those that the service says to be", async () => {
  const chunks = [
    chunk("a", "a1", { status: "error" }),
    chunk("a", "a2", { status: "completed", error: "no model" }),
    chunk("a", "a3", { status: "indexing", enabled: true }),
    chunk("a", "a4", { enabled: false, position: null }),
    chunk("a", "a5", { enabled: false, disabled_at: "2025-03-06T01:00:00Z", disabled_by: "ann" }),
    chunk("a", "a6", { enabled: false, disabled_at: "2025-03-07T01:00:00Z", disabled_by: null }),
  ];
  const { errors, disabled } = await flawsOf(tablesOf(chunks));
  const place = { dataset_id: "d", dataset_name: null, document_id: "a", document_name: null, position: 1 };
  expect([errors.total, errors.rows]).toEqual([
    2,
    [
      { ...place, id: "a1", status: "error", error: null },
      { ...place, id: "a2", status: "completed", error: "no model" },
    ],
  ]);
  expect([disabled.total, disabled.rows]).toEqual([
    3,
    [
      { ...place, id: "a6", disabled_at: Date.UTC(2025, 2, 7, 1), disabled_by: null, beginning: "text of a6" },
      { ...place, id: "a5", disabled_at: Date.UTC(2025, 2, 6, 1), disabled_by: "ann", beginning: "text of a5" },
      { ...place, id: "a4", position: null, disabled_at: null, disabled_by: null, beginning: "text of a4" },
    ],
  ]);
});

test("a table has its first rows, and the number of all", async () => {
  const chunks = Array.from({ length: mostRows + 5 }, (_, at) => chunk("a", `a${at}`, { enabled: false }));
  const { disabled } = await flawsOf(tablesOf(chunks));
  expect([disabled.rows.length, disabled.rows.at(-1)?.id, disabled.total]).toEqual([
    mostRows,
    `a${mostRows - 1}`,
    mostRows + 5,
  ]);
});

test("without content there is no text of the service", async () => {
  const secret = { content: "secret", error: "secret", disabled_by: "secret", enabled: false };
  const tables = tablesOf([chunk("a", "a1", secret), chunk("a", "a2", secret)], [child("a", "x", "k1", secret)]);
  const named = { ...tables, document_info: [info("a", { name: "secret", dataset_name: "secret" })] };
  const shown = await flawsOf(named);
  const flaws = await flawsOf(named, false);
  expect(flaws.duplicates.total).toBe(1);
  expect(JSON.stringify(flaws)).not.toContain("secret");
  expect(JSON.stringify(shown).match(/secret/g)?.length).toBeGreaterThan(8); // else the test would look at nothing
});
