import { afterEach, expect, test, vi } from "vitest";
import type { SelectRows, TextFormat } from "../../src/dump/formats/format.js";
import { verifyRun } from "../../src/verify/verify-run.js";
import { plainFolder } from "../dump/formats/folder.js";
import { soundTables } from "./sound-tables.js";
import { writeDump } from "./write-dump.js";

/** The bug of a test, and a text format with this bug. */
const planted = vi.hoisted(() => {
  const state = { bug: "none" };
  const withBug = (format: TextFormat, name: string): TextFormat => ({
    ...format,
    texts: (kind, rows) =>
      format.texts(kind, rows).map((text) => (state.bug === name ? text.replaceAll("text of", "textof") : text)),
  });
  return { state, withBug };
});

vi.mock("../../src/dump/formats/csv.js", async (original) => {
  const real = await original<typeof import("../../src/dump/formats/csv.js")>();
  const csvText = (safe: boolean) => planted.withBug(real.csvText(safe), "csv writer");
  return { ...real, csvText };
});
// The Parquet writer reads JSONL with this code. A verification that used it too would not notice its bugs.
vi.mock("../../src/dump/formats/jsonl.js", async (original) => {
  const real = await original<typeof import("../../src/dump/formats/jsonl.js")>();
  const selectRows: SelectRows = (kind, ...args) => {
    const isBroken = planted.state.bug === "jsonl reader" && kind === "chunks";
    const rows = real.selectRows(kind, ...args);
    return isBroken ? `SELECT * REPLACE (upper(content) AS content) FROM (${rows})` : rows;
  };
  return { ...real, selectRows, jsonlText: planted.withBug(real.jsonlText, "jsonl writer") };
});

afterEach(() => {
  planted.state.bug = "none";
});

async function findingsWith(bug: string, formats: readonly ("jsonl" | "csv" | "parquet")[]) {
  planted.state.bug = bug;
  // A copy, because the texts of the same rows are cached between tests.
  const run = await writeDump(await plainFolder(), structuredClone(soundTables), { formats });
  return (await verifyRun(run)).findings.map(({ file, message }) => `${file}: ${message}`);
}

test("without a bug, all formats are sound", async () => {
  expect(await findingsWith("none", ["jsonl", "csv", "parquet"])).toEqual([]);
});

test.each([
  ["csv writer", ["jsonl", "csv"], "chunks.csv"],
  ["jsonl writer", ["jsonl", "csv"], "chunks.csv"],
  ["jsonl reader", ["jsonl", "parquet"], "chunks.parquet"],
] as const)("a bug in the %s is found", async (bug, formats, file) => {
  const found = await findingsWith(bug, formats);
  expect(found.join("\n")).toMatch(new RegExp(`^${file}: row 1, chunk a1 of document a, differs in content`, "m"));
});
