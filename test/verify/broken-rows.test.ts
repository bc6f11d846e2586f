import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { columns } from "../../src/rows/columns.js";
import { verifyRun } from "../../src/verify/verify-run.js";
import { plainFolder } from "../dump/formats/folder.js";
import { inFull } from "../rounds.js";
import { mend } from "./forge.js";
import { soundTables } from "./sound-tables.js";
import { writeDump } from "./write-dump.js";

/** Replaces one file of a sound dump by these bytes, with a matching manifest; returns the findings. */
async function findingsWith(path: string, text: string | Buffer, rows = 1): Promise<readonly string[]> {
  const format = path.endsWith(".csv") ? "csv" : "jsonl";
  const run = await writeDump(await plainFolder(), soundTables, { formats: [format] });
  await writeFile(join(run, path), text);
  await mend(run, path, rows);
  return (await verifyRun(run)).findings.map(({ file, message }) => `${file}: ${message}`);
}

type BrokenRow = readonly [message: string, text: string | Buffer];

/** Returns the findings for these rows after the header of one file. */
async function findingsOfRows(
  path: string,
  header: string,
  rows: readonly (string | Buffer)[],
): Promise<readonly string[]> {
  const bytes = Buffer.concat([header, ...rows].map((text) => Buffer.from(text)));
  const found = await findingsWith(path, bytes, rows.length);
  return found.filter((text) => text.startsWith(`${path}: row `));
}

const textsOf = (rows: readonly BrokenRow[]) => rows.map(([, text]) => text);
const expectedOf = (path: string, rows: readonly BrokenRow[]) =>
  rows.map(([message], at) => expect.stringMatching(new RegExp(`^${path}: row ${at + 1} ${message}`)));

describe("lines of JSONL that are no rows", () => {
  const field = (json: string) => `{"dataset_id":"d","position":1,"name":"author","type":${json}}\n`;

  const broken: readonly BrokenRow[] = [
    ["is not valid JSON: ", `\ufeff${field('"string"')}`], // a reader could take it for the file's byte order mark
    ["is not valid JSON: ", field('"string')],
    ["is not valid JSON: ", field('"a\tb"')],
    ["is not valid JSON: ", "\n"],
    ["is not valid JSON: ", `${field('"string"').trimEnd()}${field('"string"')}`],
    ["is not a JSON object", "[]\n"],
    ["is not a JSON object", "null\n"],
    ["has other columns: dataset_id, position, name$", '{"dataset_id":"d","position":1,"name":"author"}\n'],
    [
      "has other columns: dataset_id, position, type, name$",
      '{"dataset_id":"d","position":1,"type":"string","name":"author"}\n',
    ],
    ["has other columns: dataset_id, position, name, type, more$", field('"string","more":null')],
    ["has other columns: dataset_id, position, name, type, type$", field('"string","type":"time"')],
    [
      "has other columns: dataset_id, position, name, .u0074ype$",
      field('"string"').replace('"type"', String.raw`"\u0074ype"`),
    ],
    ["type is not of type text: 12$", field("12")],
    ["type is not of type text: {}$", field("{}")],
    ["type is not of type text: true$", field("true")],
    ["is not UTF-8$", Buffer.from(field('"\xff"'), "latin1")],
  ];

  test.runIf(inFull)("are found, each with its row and what is wrong with it", async () => {
    const path = "metadata_fields.jsonl";
    expect(await findingsOfRows(path, "", textsOf(broken))).toEqual(expectedOf(path, broken));
  });

  test("blanks, escapes and numbers in other forms are the same row", async () => {
    const text = field(String.raw`"\u0073tring"`).replaceAll(":", " :\t").replace("\n", " \r\n");
    expect(await findingsWith("metadata_fields.jsonl", text)).toEqual([]);
  });
});

describe("cells that are not of their column's type", () => {
  const names = columns.indexing_status.map(({ name }) => name);
  const sound = { captured_at: '"2025-03-06T13:20:00Z"', dataset_id: '"d"', batch: '"2025"', document_id: '"a"' };
  const line = (cells: Record<string, string>) =>
    `{${names.map((name) => `"${name}":${({ ...sound, ...cells })[name] ?? "null"}`).join(",")}}\n`;

  const broken = [
    ["total_segments", '"12"', "integer"],
    ["total_segments", "1.5", "integer"],
    ["total_segments", "1.0", "integer"],
    ["total_segments", "1e3", "integer"],
    ["total_segments", "-0", "integer"],
    ["total_segments", "9223372036854775808", "integer"],
    ["completed_at", "1741267200", "time"],
    ["completed_at", '"2025-03-06 13:20:00"', "time"],
    ["completed_at", '"2025-03-06T13:20:00.1Z"', "time"],
    ["completed_at", '"2025-13-06T13:20:00Z"', "time"],
    ["extra", '"{}"', "object"],
    ["extra", "[]", "object"],
    ["extra", "1e400", "object"],
  ] as const;

  test.runIf(inFull)("are found, each with its row, its column and its type", async () => {
    const path = "indexing_status.jsonl";
    const rows = broken.map(([name, json]) => line({ [name]: json }));
    const expected = broken.map(([name, json, type], at) => {
      const text = type === "time" && json.startsWith('"') ? JSON.parse(json) : json;
      return `${path}: row ${at + 1} ${name} is not of type ${type}: ${text}`;
    });
    expect(await findingsOfRows(path, "", rows)).toEqual(expected);
  });

  test.runIf(inFull)("a repeated name in an object, of which a reader sees only one member", async () => {
    const path = "indexing_status.jsonl";
    const twice = ['{"a":1,"a":1}', '{"b":[{"a":1,"c":{"a":2},"\\u0061":3}]}'].map((extra) => line({ extra }));
    expect(await findingsOfRows(path, "", twice)).toEqual([
      `${path}: row 1 has "a" twice in one object`,
      `${path}: row 2 has "\\u0061" twice in one object`,
    ]);
    const csv = `${names.join(",")}\n2025-03-06T13:20:00Z,d,2025,a${",".repeat(names.length - 4)}"{""a"":1,""a"":1}"\n`;
    expect(await findingsOfRows("indexing_status.csv", "", [csv])).toEqual([
      'indexing_status.csv: row 1 extra is not of type object: {"a":1,"a":1}',
    ]);
  });

  test.runIf(inFull)("an object that is nested deeper than a run can write it", async () => {
    const deep = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
    expect(await findingsOfRows("indexing_status.jsonl", "", [line({ extra: deep })])).toEqual([
      "indexing_status.jsonl: row 1 is nested too deeply to be checked",
    ]);
  });

  test("values of the right type", async () => {
    const cells = {
      total_segments: "-9223372036854775808",
      completed_at: '"0001-01-01T00:00:00.001Z"',
      extra: "{}",
      error: "[1]",
    };
    expect(await findingsWith("indexing_status.jsonl", line(cells))).toEqual([]);
  });
});

describe("records of CSV that are no rows", () => {
  const header = "dataset_id,position,name,type\n";

  const broken: readonly BrokenRow[] = [
    ["has 3 cells instead of 4$", "d,1,author\n"],
    ["has 5 cells instead of 4$", "d,1,author,string,\n"],
    ["has 1 cells instead of 4$", "\n"],
    ["is not valid CSV$", 'd,1,"author"x,string\n'],
    ["is not valid CSV$", "d,1,a\rb,string\n"],
    ["is not valid CSV$", "d\r,1,é,string\n"],
    ["is not valid CSV$", ',"é"x,author,string\n'],
    ["is not valid CSV$", 'd,1,é"thor",string\n'],
    ["is not valid CSV$", 'd,"1",a,"\0"\0\n'],
    ["is not UTF-8$", Buffer.from("d,1,author,\xff\n", "latin1")],
    ["position is not of type integer: 01$", "d,01,author,string\n"],
  ];

  test.runIf(inFull)("are found, each with its row and what is wrong with it", async () => {
    const path = "metadata_fields.csv";
    expect(await findingsOfRows(path, header, textsOf(broken))).toEqual(expectedOf(path, broken));
  });

  test.runIf(inFull).each([
    ["is not valid CSV", 'd,1,au"thor"",string\n'],
    ["is not valid CSV: a quote is not closed", 'd,1,author,"string\n'],
  ])("to the end of the file, because a quote is open: %s", async (message, text) => {
    const [found] = await findingsWith("metadata_fields.csv", header + text);
    expect(found).toBe(`metadata_fields.csv: row 1 ${message}`);
  });

  test
    .runIf(inFull)
    .each([
      `${header.replace("name,", "name, ")}d,1,author,string\n`,
      `\ufeff${header}d,1,author,string\n`,
      "d,1,author,string\n",
    ])("another header: %j", async (text) => {
    const [found] = await findingsWith("metadata_fields.csv", text);
    expect(found).toBe("metadata_fields.csv: cannot be read: has another header");
  });

  test.runIf(inFull)(
    "unneeded quotes do not change a row, and a line feed between quotes does not end one",
    async () => {
      expect(await findingsWith("metadata_fields.csv", `${header}"d","1","author","string"\n`)).toEqual([]);
      expect(await findingsWith("metadata_fields.csv", `${header}d,1,"a\n""b""\n",",\n"\nd,2,x,y\n`, 2)).toEqual([
        "manifest.json: files: metadata_fields.csv has 2 rows, counts.metadata_fields is 1",
      ]);
    },
  );
});
