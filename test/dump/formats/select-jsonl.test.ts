import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { selectRows } from "../../../src/dump/formats/jsonl.js";
import { jsonText, parseJson } from "../../../src/rows/exact-json.js";
import { query } from "../../database/query.js";
import { jsonValues } from "../../rows/json-arbitrary.js";
import { plainFolder } from "./folder.js";

/** Reads one column of these lines of child_chunks with DuckDB; `longNumbers`: whether to handle long numbers. */
async function readLines(lines: string, column = "extra", longNumbers?: boolean): Promise<readonly unknown[]> {
  const path = join(await plainFolder(), "lines.jsonl");
  await writeFile(path, lines);
  const file = { paths: [path], longestLine: lines.length * 4, ...(longNumbers !== undefined && { longNumbers }) };
  const rows = await query(`SELECT "${column}" FROM (${selectRows("child_chunks", file, "JSON")})`);
  return rows.map(([cell]) => cell);
}

const lineOf = (extra: string) => `{"content":"1.5, 0.10000000000000000001","extra":${extra}}\n`;

describe("JSON that DuckDB would round", () => {
  it.each([
    "0.10000000000000000001",
    "-0.10000000000000000001",
    "12345678901234567890.5",
    "12345678901234567890e2",
    "1.00000000000000000005E-7",
    "[3.14159265358979323846264338327950288,1,[0.5]]",
    '{"a":0.10000000000000000001,"b":"0.10000000000000000001","0.10000000000000000001":1.5}',
    '{"a":"\\"x\\":0.10000000000000000001,","b":[0.10000000000000000001]}',
    '{"a":"\\\\","b":0.10000000000000000001,"c":"\\\\\\""}',
    "18446744073709551616",
    "-123456789012345678901234567890",
  ])("%s is kept as it is", async (extra) => {
    expect(await readLines(lineOf(extra))).toEqual([extra]);
  });

  it("is kept beside lines that need no care, and beside null", async () => {
    const values = ["null", "1.5", "[0.10000000000000000001]", '{"a":1e-7}', "{}", "0.30000000000000004441"];
    const found = await readLines(values.map(lineOf).join(""));
    expect(found).toEqual([null, ...values.slice(1)]);
  });

  it("does not change the text of other columns", async () => {
    expect(await readLines(lineOf("[0.10000000000000000001]"), "content")).toEqual(["1.5, 0.10000000000000000001"]);
  });

  it("is the value that was sent, to the last digit, whatever it is", async () => {
    const values = fc.sample(jsonValues, { numRuns: 1500, seed: 7 }).map((value) => jsonText({ value }));
    const found = await readLines(values.map(lineOf).join(""));
    for (const [at, value] of values.entries()) expect(parseJson(String(found[at]))).toEqual(parseJson(value));
  });
});

describe.each([[true], [false]])("lines, long numbers looked for: %s", (longNumbers) => {
  it("of an older kbdump, without a column that is new, have null there", async () => {
    expect(await readLines('{"id":"a"}\n{"id":"b","extra":[1],"of a newer kbdump":1}\n', "extra", longNumbers)).toEqual(
      [null, "[1]"],
    );
  });

  it("that are cut off are an error, no row of nulls", async () => {
    await expect(readLines('{"id":"a"}\n{"id":"b', "id", longNumbers)).rejects.toThrow("JSON");
  });

  it("without an end of line behind the last are read", async () => {
    expect(await readLines('{"id":"a"}\n{"id":"b"}', "id", longNumbers)).toEqual(["a", "b"]);
  });

  it("of a missing file are an error", async () => {
    const file = { paths: [join(await plainFolder(), "none.jsonl")], longestLine: 0, longNumbers };
    await expect(query(selectRows("chunks", file, "JSON"))).rejects.toThrow("none.jsonl");
  });
});
