import { describe, expect, test } from "vitest";
import { columns } from "../../src/rows/columns.js";
import { verifyRun } from "../../src/verify/verify-run.js";
import { inFull } from "../rounds.js";
import { type Dumped, useDump } from "./dumped.js";
import { forgeCsv, forgeLines, forgeParquet } from "./forge.js";

/**
 * Rows changed in one format by a forger who also updates sizes, hashes and row counts in the manifest: only the
 * comparison with the other formats can detect this.
 */
const formats = ["jsonl", "csv", "parquet"] as const;
const copyOfDump = useDump([...formats]);

interface Forgery {
  readonly jsonl: (lines: string[]) => string[];
  readonly csv: (rows: (string | null)[][]) => (string | null)[][];
  readonly parquet: string;
}

/** Forges the files of these formats; returns the findings. */
async function forge(
  { run }: Dumped,
  format: (typeof formats)[number],
  kinds: readonly string[],
  forgery: Forgery,
): Promise<readonly string[]> {
  for (const path of kinds.map((kind) => `${kind}.${format}`)) {
    if (format === "jsonl") await forgeLines(run, path, forgery.jsonl);
    if (format === "csv") await forgeCsv(run, path, forgery.csv);
    if (format === "parquet") await forgeParquet(run, path, forgery.parquet);
  }
  const { findings, status } = await verifyRun(run);
  expect(status).toBe("differences");
  return findings.map(({ file, message }) => `${file}: ${message.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "…")}`);
}

const removed: Forgery = {
  jsonl: (lines) => lines.toSpliced(2, 1),
  csv: (rows) => rows.toSpliced(2, 1),
  parquet: "FROM old WHERE nth <> 3 ORDER BY nth",
};

/** Two more rows: one with the ids of another row, one with a new id. */
const added: Forgery = {
  jsonl: (lines) => [...lines, lines[2] ?? "", (lines[2] ?? "").replace(/"id":"[^"]+"/, '"id":"new"')],
  csv: (rows) => [...rows, rows[2] ?? [], (rows[2] ?? []).with(2, "new")],
  parquet: "FROM old UNION ALL FROM old WHERE nth = 3 UNION ALL SELECT * REPLACE ('new' AS id) FROM old WHERE nth = 3",
};

const swapped: Forgery = {
  jsonl: (lines) => lines.with(2, lines[3] ?? "").with(3, lines[2] ?? ""),
  csv: (rows) => rows.with(2, rows[3] ?? []).with(3, rows[2] ?? []),
  parquet: "FROM old ORDER BY CASE nth WHEN 3 THEN 4 WHEN 4 THEN 3 ELSE nth END",
};

describe.each(inFull ? formats : (["csv"] as const))("in %s alone", (format) => {
  const other = format === "jsonl" ? "csv" : "jsonl";

  test.runIf(inFull)("a row of chunks and a row of child chunks are missing", async () => {
    expect(await forge(await copyOfDump(), format, ["chunks", "child_chunks"], removed)).toEqual([
      `manifest.json: files: chunks.${format} has 16 rows, counts.chunks is 17`,
      `manifest.json: files: child_chunks.${format} has 14 rows, counts.child_chunks is 15`,
      `chunks.${format}: chunk … of document … is missing; it is row 3 of chunks.${other}`,
      `child_chunks.${format}: child chunk … of chunk … of document … is missing; it is row 3 of child_chunks.${other}`,
    ]);
  });

  test.runIf(inFull)("two rows are added, one of which repeats an existing row", async () => {
    expect(await forge(await copyOfDump(), format, ["chunks"], added)).toEqual([
      `manifest.json: files: chunks.${format} has 19 rows, counts.chunks is 17`,
      `chunks.${format}: row 18, chunk … of document …, occurs more often than in chunks.${other}`,
      `chunks.${format}: row 19, chunk new of document …, is not in chunks.${other}`,
    ]);
  });

  test("two rows changed places", async () => {
    const [left, right] = format === "jsonl" ? ["csv", "jsonl"] : [format, "jsonl"];
    const found = await forge(await copyOfDump(), format, ["chunks"], swapped);
    expect(found[0]).toBe(
      `chunks.${left}: 2 rows are in another order than in chunks.${right}: row 3, chunk … of document …, is row 4 there`,
    );
    expect(found).toHaveLength(format === "jsonl" ? 2 : 1);
  });
});

/** One changed cell of chunks, as JSONL, CSV and Parquet. The first goes into row 1, and so on. */
const cells: readonly (readonly [column: string, json: string, csv: string | null, sql: string])[] = [
  ["content", '"new"', "new", "'new'"],
  ["content", '""', "", "''"],
  ["content", "null", null, "NULL"],
  ["answer", '"\\u0000"', "\0", "chr(0)"],
  ["answer", '"\\ufeff"', "\ufeff", "chr(65279)"],
  ["sign_content", `"'=${"long ".repeat(20)}"`, `'=${"long ".repeat(20)}`, `'''=${"long ".repeat(20)}'`],
  ["position", "4711", "4711", "4711"],
  ["hit_count", "9007199254740993", "9007199254740993", "9007199254740993"],
  ["tokens", "null", null, "NULL"],
  ["enabled", "false", "false", "false"],
  ["created_at", '"0099-03-06T13:20:00.001Z"', "0099-03-06T13:20:00.001Z", "TIMESTAMPTZ '0099-03-06T13:20:00.001Z'"],
  ["keywords", '["a, b"]', '["a, b"]', "['a, b']"],
  ["keywords", "[]", "[]", "[]::VARCHAR[]"],
  ["error", '"null"', "null", "'null'"],
  ["error", '{"a":[1.5]}', '{"a":[1.5]}', `'{"a":[1.5]}'`],
  ["attachments", '[{"a":12345678901234567890}]', '[{"a":12345678901234567890}]', `'[{"a":12345678901234567890}]'`],
  ["extra", '{"a":0.10000000000000000001}', '{"a":0.10000000000000000001}', `'{"a":0.10000000000000000001}'`],
];

const value = String.raw`null|"(?:[^"\\]|\\.)*"|\[.*?\]|[^,\[{]+`;

const allCells: Forgery = {
  jsonl: (lines) =>
    cells.map(([column, json], at) =>
      (lines[at] ?? "").replace(new RegExp(`("${column}":)(${value})(?=[,}])`), (_all, name) => `${name}${json}`),
    ),
  csv: (rows) =>
    cells.map(([column, , text], at) =>
      (rows[at] ?? []).with(
        columns.chunks.findIndex(({ name }) => name === column),
        text,
      ),
    ),
  parquet: `SELECT ${columns.chunks
    .map(({ name }) => {
      const forged = cells.flatMap(([column, , , sql], at) => (column === name ? [`WHEN ${at + 1} THEN ${sql}`] : []));
      return forged.length > 0 ? `CASE nth ${forged.join(" ")} ELSE ${name} END AS ${name}` : name;
    })
    .join(", ")}, nth FROM old ORDER BY nth`,
};

describe("a cell is another", () => {
  test.runIf(inFull).each(inFull ? formats : (["jsonl"] as const))(
    "in %s alone: every one is found",
    async (format) => {
      const found = await forge(await copyOfDump(), format, ["chunks"], allCells);
      const [left, right] = format === "jsonl" ? ["csv", "jsonl"] : [format, "jsonl"];
      const expected = cells.map(([column], at) => {
        const row = at + 1;
        return `chunks.${left}: row ${row}, chunk … of document …, differs in ${column} from row ${row} of chunks.${right}`;
      });
      expect(found.filter((text) => text.startsWith(`chunks.${left}`))).toEqual(expected);
    },
  );

  test.runIf(inFull).each([
    ["12345678901234567890", "12345678901234567000", "1.234567890123456789e19"],
    ["0.30000000000000000004", "0.3", "3.0000000000000000004E-1"],
    ["1e400", "1e401", "1000e397"],
  ])("the number %s was rounded, or is written in another way", async (number, rounded, same) => {
    const forgery = (text: string) => (lines: string[]) =>
      lines.with(0, (lines[0] ?? "").replace(/"extra":\{.*/, `"extra":{"a":[{"b":${text}}]}}`));
    const { run } = await copyOfDump();
    await forgeCsv(run, "chunks.csv", (rows) => rows.with(0, (rows[0] ?? []).with(-1, `{"a":[{"b":${number}}]}`)));
    const found = async (text: string) => {
      await forgeLines(run, "chunks.jsonl", forgery(text));
      const { findings } = await verifyRun(run);
      return findings.filter(({ file }) => file === "chunks.csv").map(({ message }) => message);
    };
    expect(await found(number)).toEqual([]);
    expect(await found(rounded)).toEqual([expect.stringContaining("differs in extra from row 1 of chunks.jsonl")]);
    expect(await found(same)).toEqual([]);
  });

  test.runIf(inFull)("in all formats: no difference is seen between them", async () => {
    const { run } = await copyOfDump();
    await forgeLines(run, "chunks.jsonl", allCells.jsonl);
    await forgeCsv(run, "chunks.csv", allCells.csv);
    await forgeParquet(run, "chunks.parquet", allCells.parquet);
    expect((await verifyRun(run)).findings).toEqual([]);
  });
});
