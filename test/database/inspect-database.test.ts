import { mkdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { inspectDatabase, inspectWholly } from "../../src/database/inspect-database.js";
import { plainFolder } from "../dump/formats/folder.js";
import { duckDbOptions } from "../dump/formats/formats.js";
import { damageRows } from "./damage-rows.js";
import { chunk, JobDatabase, madeOnce, read } from "./job-database.js";
import { change } from "./query.js";

const ours = madeOnce(async () => {
  const database = await JobDatabase.create();
  const chunks = Array.from({ length: 300 }, (_, at) => chunk("a", `c${at}`, { content: `${at} `.repeat(400) }));
  await database.run("r1", { chunks, documents: [read("a")] });
  return database;
});

const damages: readonly (readonly [what: string, damage: (path: string) => Promise<void>, state: object])[] = [
  ["as it was", async () => {}, { state: "ours", newest: "r1" }],
  ["without a file", (path) => rm(path), { state: "absent" }],
  ["empty", (path) => truncate(path, 0), { state: "corrupt", reason: "it is not a DuckDB database" }],
  ["a text", (path) => writeFile(path, "notes"), { state: "corrupt", reason: "it is not a DuckDB database" }],
  [
    "damaged in its header",
    async (path) => writeFile(path, (await readFile(path)).fill(7, 0, 4096)),
    { state: "corrupt", reason: "it is not a DuckDB database" },
  ],
  [
    "damaged in the numbers of its blocks",
    async (path) => writeFile(path, (await readFile(path)).fill(7, 4096, 12_288)),
    { state: "corrupt", reason: expect.stringMatching(/^\S/) },
  ],
  [
    "cut",
    async (path) => truncate(path, Math.floor((await stat(path)).size / 2)),
    { state: "corrupt", reason: expect.stringMatching(/^\S/) },
  ],
  ["damaged in its rows", damageRows, { state: "corrupt", reason: "some of its blocks are damaged" }],
  [
    "a folder",
    async (path) => {
      await rm(path);
      await mkdir(path);
    },
    { state: "foreign", what: "is not a file" },
  ],
  [
    "of somebody else",
    async (path) => {
      await rm(path);
      await change("CREATE TABLE mine (a INTEGER)", path);
    },
    { state: "foreign", what: "has no tables of kbdump" },
  ],
  ...[
    "ALTER TABLE chunks DROP COLUMN summary",
    "ALTER TABLE chunks ADD COLUMN vector FLOAT[]",
    "DROP TABLE document_changes",
  ].map((statement): (typeof damages)[number] => [
    `of another version (${statement})`,
    (path) => change(statement, path),
    { state: "foreign", what: "was written by another version of kbdump" },
  ]),
];

it.each(damages)("inspectWholly recognizes a database %s", async (_what, damage, state) => {
  const { path } = await ours();
  await damage(path);
  expect(await inspectWholly(path, duckDbOptions(await plainFolder()))).toEqual(state);
});

it("inspectDatabase does not read the rows", async () => {
  const { path } = await ours();
  await damageRows(path);
  expect(await inspectDatabase(path, duckDbOptions(await plainFolder()))).toEqual({ state: "ours", newest: "r1" });
});
