import { cp, mkdir, mkdtemp, readFile, rename, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sqlText } from "../../src/duckdb/sql.js";
import { verifyRun } from "../../src/verify/verify-run.js";
import { fileFormats, ids, openDatasets, threeDatasets } from "../dump/partition/datasets.js";
import { testFolder } from "../run/job-for.js";
import { editManifest, flipBit, forgeCsv, forgeLines, forgeParquet } from "./forge.js";

type Format = (typeof fileFormats)[number];

let made = "";
let run = "";
beforeAll(async () => {
  made = await mkdtemp(join(tmpdir(), "kbdump-partitions-"));
  const place = await openDatasets(threeDatasets().store, {}, made);
  run = (await place.run("dataset")).folder;
  await place.server.close();
});
afterAll(() => rm(made, { recursive: true, force: true }));

/** Copies the run with the files of all formats or of one. */
async function copyOfRun(only?: Format): Promise<string> {
  const copy = join(await testFolder(), "run");
  await cp(run, copy, { recursive: true });
  if (only === undefined) return copy;
  await editManifest(copy, (manifest) => {
    manifest.options = { output: { formats: [only], csv_safe: false, compress: "none", partition: "dataset" } };
    manifest.files = manifest.files.filter(({ path }) => path.includes(`.${only}`));
  });
  for (const format of fileFormats.filter((each) => each !== only))
    for (const kind of ["chunks", "child_chunks", "documents", "indexing_status", "metadata_fields", "document_info"])
      await rm(join(copy, `${kind}.${format}`), { recursive: true });
  return copy;
}

const folderOf = (dataset: string) =>
  dataset.replace(/[^\wü.-]/g, (one) => `%${Buffer.from(one).toString("hex").toUpperCase()}`);
const file = (format: string, dataset: string, kind = "chunks") =>
  `${kind}.${format}/dataset_id=${folderOf(dataset)}/part-0.${format}`;
const findingsOf = async (folder: string) =>
  (await verifyRun(folder)).findings.map(({ file, message }) => `${file}: ${message}`);
const inOrder = async (folder: string) => {
  const { documents } = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8"));
  const own = documents.filter((document: { dataset_id: string }) => document.dataset_id === ids.full);
  return own.map((document: { document_id: string }) => document.document_id).sort();
};

test("an untouched run is sound in all formats together, and in each one", async () => {
  expect(await findingsOf(await copyOfRun())).toEqual([]);
  for (const format of fileFormats) expect(await findingsOf(await copyOfRun(format))).toEqual([]);
});

describe.each(fileFormats)("in %s alone", (format) => {
  test("two rows that changed their partitions are found, by file and row", async () => {
    const folder = await copyOfRun(format);
    const [full, odd] = [file(format, ids.full), file(format, ids.odd)];
    if (format === "jsonl") {
      const moved = async (path: string) => (await readFile(join(folder, path), "utf8")).split("\n")[1] ?? "";
      const [one, other] = [await moved(full), await moved(odd)];
      await forgeLines(folder, full, (lines) => lines.with(1, other));
      await forgeLines(folder, odd, (lines) => lines.with(1, one));
    } else if (format === "csv") {
      let [one, other]: (string | null)[][] = [[], []];
      await forgeCsv(folder, odd, (rows) => {
        other = rows[1];
        return rows;
      });
      await forgeCsv(folder, full, (rows) => {
        one = rows[1];
        return rows.with(1, other ?? []);
      });
      await forgeCsv(folder, odd, (rows) => rows.with(1, one ?? []));
    } else {
      await cp(join(folder, full), join(folder, "..", "full.parquet"));
      const second = (path: string) =>
        `FROM (SELECT *, row_number() OVER () AS nth FROM ${sqlText(path)}) WHERE nth = 2`;
      const exchange = (path: string) => `FROM old WHERE nth <> 2 UNION ALL ${second(path)} ORDER BY nth`;
      await forgeParquet(folder, full, exchange(join(folder, odd)));
      await forgeParquet(folder, odd, exchange(join(folder, "..", "full.parquet")));
    }
    expect(await findingsOf(folder)).toEqual([
      `${full}: row 2 is of dataset ${ids.odd}, and lies in the partition of another`,
      `${odd}: row 2 is of dataset ${ids.full}, and lies in the partition of another`,
    ]);
  });

  test("documents that are not sorted by their ids are found", async () => {
    const folder = await copyOfRun(format);
    const path = file(format, ids.full);
    const [first, second, third] = await inOrder(folder);
    const chunks = { [first]: 12, [second]: 5 }[third] ?? 2;
    if (format === "jsonl")
      await forgeLines(folder, path, (lines) => [...lines.slice(-chunks), ...lines.slice(0, -chunks)]);
    else if (format === "csv")
      await forgeCsv(folder, path, (rows) => [...rows.slice(-chunks), ...rows.slice(0, -chunks)]);
    else await forgeParquet(folder, path, `FROM old ORDER BY document_id <> ${sqlText(third)}, nth`);
    expect(await findingsOf(folder)).toEqual([
      `${path}: row ${chunks + 1} is of document ${first}, which belongs before document ${third}`,
    ]);
  });
});

test("a row that one format lacks, and a repeated row, are named by file and row", async () => {
  const folder = await copyOfRun();
  const [csv, jsonl] = [file("csv", ids.odd), file("jsonl", ids.odd)];
  await forgeCsv(folder, csv, (rows) => [rows[0] ?? [], ...rows.slice(0, 2)]);
  const found = await findingsOf(folder);
  expect(found).toEqual([
    expect.stringMatching(/^chunks.csv: chunk .* is missing; it is row 3 of chunks.jsonl.*part-0.jsonl$/),
    expect.stringMatching(/^chunks.csv: row 2 of .*, chunk .*, occurs more often than in chunks.jsonl$/),
  ]);
  const alone = await copyOfRun("jsonl");
  await forgeLines(alone, jsonl, ([first = "", second = ""]) => [first, second, first]);
  expect((await findingsOf(alone)).at(0)).toMatch(
    /^chunks.jsonl: chunk .* occurs 2 times, in row 1 of chunks.jsonl.*part-0.jsonl and in row 3 of chunks.jsonl/,
  );
});

test("a row that is none, other than the listed number of rows, and a file without a header", async () => {
  const folder = await copyOfRun("jsonl");
  await forgeLines(folder, file("jsonl", ids.odd), (lines) => lines.with(2, "{"));
  const [first, ...others] = await findingsOf(folder);
  expect(first).toMatch(/^chunks.jsonl\/dataset_id=a.*part-0.jsonl: row 3 is not valid JSON/);
  expect(others).toEqual([
    expect.stringMatching(
      /^child_chunks.jsonl: child chunk .* in row 3 of child_chunks.jsonl.* has no parent in chunks.jsonl$/,
    ),
    expect.stringMatching(/^chunks.jsonl: document .* has 2 rows, its chunk_count is 3$/),
  ]);
  const short = await copyOfRun("csv");
  await forgeCsv(short, file("csv", ids.odd), (rows) => rows.slice(1));
  await editManifest(short, ({ files }) => {
    for (const each of files) if (each.path === file("csv", ids.odd)) each.rows = 3;
  });
  expect(await findingsOf(short)).toContain(`${file("csv", ids.odd)}: has 2 rows, the manifest says 3`);
  await writeFile(join(short, file("csv", ids.empty)), "");
  expect(await findingsOf(short)).toContain(`${file("csv", ids.empty)}: cannot be read: has no header`);
});

test("a flipped bit and a cut file are reported only for their partition", async () => {
  const folder = await copyOfRun();
  const [flipped, cut] = [file("jsonl", ids.full), file("parquet", ids.odd, "child_chunks")];
  await flipBit(join(folder, flipped));
  await truncate(join(folder, cut), 100);
  const found = await findingsOf(folder);
  expect(found.slice(0, 2)).toEqual([
    expect.stringContaining(`${flipped}: has the SHA-256`),
    expect.stringContaining(`${cut}: has 100 bytes instead of`),
  ]);
  expect(found).toContainEqual(expect.stringContaining(`${cut}: cannot be read: `));
  expect(found.filter((text) => text.includes("another order"))).toEqual([]);
});

test("files and folders of partitions that are not as the manifest lists them", async () => {
  const folder = await copyOfRun();
  const aside = join(folder, "..", "aside");
  const at = (path: string) => join(folder, path);
  await mkdir(aside);
  await rm(at(file("csv", ids.odd)));
  await writeFile(at(`chunks.csv/dataset_id=${ids.full}/part-1.csv`), "");
  await mkdir(at("chunks.csv/dataset_id=other"));
  await rename(at("chunks.parquet"), join(aside, "chunks.parquet"));
  await symlink(join(aside, "chunks.parquet"), at("chunks.parquet"));
  const partition = `child_chunks.jsonl/dataset_id=${ids.empty}`;
  await rename(at(partition), join(aside, "partition"));
  await symlink(join(aside, "partition"), at(partition));
  await rm(at("child_chunks.csv"), { recursive: true });
  await writeFile(at("child_chunks.csv"), "");
  const unlisted = "is in the folder, but not in manifest.json";
  expect((await findingsOf(folder)).sort()).toEqual(
    [
      `chunks.csv/dataset_id=${ids.full}/part-1.csv: ${unlisted}`,
      `chunks.csv/dataset_id=other: ${unlisted}`,
      `${file("csv", ids.odd)}: is not there`,
      "chunks.parquet: is a symlink, which is not followed",
      `${partition}: is a symlink, which is not followed`,
      "child_chunks.csv: is not a folder",
    ].sort(),
  );
});
