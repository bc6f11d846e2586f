import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { columns } from "../../src/rows/columns.js";
import { verifyRun } from "../../src/verify/verify-run.js";
import { plainFolder } from "../dump/formats/folder.js";
import { mend } from "./forge.js";
import { soundTables } from "./sound-tables.js";
import { writeDump } from "./write-dump.js";

/** metadata_fields.jsonl of one sound dump holds these bytes instead, and the manifest agrees. */
async function findingsWith(path: string, text: string | Buffer, rows = 1): Promise<readonly string[]> {
  const format = path.endsWith(".csv") ? "csv" : "jsonl";
  const run = await writeDump(await plainFolder(), soundTables, { formats: [format] });
  await writeFile(join(run, path), text);
  await mend(run, path, rows);
  return (await verifyRun(run)).findings.map(({ file, message }) => `${file}: ${message}`);
}

describe("lines of JSONL that are no rows", () => {
  const field = (json: string) => `{"dataset_id":"d","position":1,"name":"author","type":${json}}\n`;

  test.each([
    ["is no JSON: ", field('"string')],
    ["is no JSON: ", field('"a\tb"')],
    ["is no JSON: ", "\n"],
    ["is no JSON: ", `\ufeff${field('"string"')}`],
    ["is no JSON: ", `${field('"string"').trimEnd()}${field('"string"')}`],
    ["is no JSON object", "[]\n"],
    ["is no JSON object", "null\n"],
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
    ["type is no text: 12$", field("12")],
    ["type is no text: {}$", field("{}")],
    ["type is no text: true$", field("true")],
    ["is not UTF-8$", Buffer.from(field('"\xff"'), "latin1")],
  ])("%s", async (message, text) => {
    const found = await findingsWith("metadata_fields.jsonl", text);
    expect(found[0]).toMatch(new RegExp(`^metadata_fields.jsonl: row 1 ${message}`));
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

  test.each([
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
  ])("%s: %s", async (name, json, type) => {
    const [found] = await findingsWith("indexing_status.jsonl", line({ [name]: json }));
    const text = type === "time" && json.startsWith('"') ? JSON.parse(json) : json;
    expect(found).toBe(`indexing_status.jsonl: row 1 ${name} is no ${type}: ${text}`);
  });

  test("what is of the type", async () => {
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

  test.each([
    ["row 1 has 3 cells instead of 4$", `${header}d,1,author\n`],
    ["row 1 has 5 cells instead of 4$", `${header}d,1,author,string,\n`],
    ["row 1 has 1 cells instead of 4$", `${header}\n`],
    ["row 1 is no CSV at character 5$", `${header}d,1,au"thor"",string\n`],
    ["row 1 is no CSV at character 13$", `${header}d,1,"author"x,string\n`],
    ["row 1 is no CSV at character 5$", `${header}d,1,a\rb,string\n`],
    ["row 1 has quotes that do not close at character 12$", `${header}d,1,author,"string\n`],
    ["row 1 is not UTF-8$", Buffer.from(`${header}d,1,author,\xff\n`, "latin1")],
    ["row 1 position is no integer: 01$", `${header}d,01,author,string\n`],
    ["cannot be read: has another header$", `${header.replace("name,", "name, ")}d,1,author,string\n`],
    ["cannot be read: has another header$", `\ufeff${header}d,1,author,string\n`],
    ["cannot be read: has another header$", "d,1,author,string\n"],
  ])("%s", async (message, text) => {
    const [found] = await findingsWith("metadata_fields.csv", text);
    expect(found).toMatch(new RegExp(`^metadata_fields.csv: ${message}`));
  });

  test("quotes where none are needed are the same row, and a line feed between quotes ends none", async () => {
    expect(await findingsWith("metadata_fields.csv", `${header}"d","1","author","string"\n`)).toEqual([]);
    expect(await findingsWith("metadata_fields.csv", `${header}d,1,"a\n""b""\n",",\n"\nd,2,x,y\n`, 2)).toEqual([
      "manifest.json: files: metadata_fields.csv has 2 rows, counts.metadata_fields is 1",
    ]);
  });
});
