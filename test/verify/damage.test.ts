import { execFileSync } from "node:child_process";
import { copyFile, mkdir, readFile, rename, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { verifyRun } from "../../src/verify/verify-run.js";
import { inFull } from "../rounds.js";
import { useDump } from "./dumped.js";
import { editManifest, flipBit, mend } from "./forge.js";

const copyOfDump = useDump(["jsonl", "csv", "parquet"]);
const findingsOf = async (run: string) => (await verifyRun(run)).findings;
const texts = (findings: readonly { file: string; message: string }[]) =>
  findings.map(({ file, message }) => `${file}: ${message}`);

test.runIf(inFull)("an untouched dump is sound, and the checks are reported", async () => {
  const { run, folder } = await copyOfDump();
  const checked = {
    run_id: run.split("/").at(-1),
    files: 15,
    documents: 3,
    chunks: 17,
    child_chunks: 15,
    originals: null,
    attachments: null,
    database: null,
    notes: [],
  };
  const sound = { status: "sound", findings: [], finding_count: 0 };
  expect(await verifyRun(run)).toEqual({ ...sound, checked: { folder: run, ...checked } });
  await symlink(join("runs", run.split("/").at(-1) ?? ""), join(folder, "link"));
  expect(await verifyRun(join(folder, "link"))).toMatchObject(sound);
});

describe("the bytes of the files", () => {
  const files = ["chunks", "documents", "metadata_fields"].flatMap((kind) =>
    ["jsonl", "csv", "parquet"].map((format) => `${kind}.${format}`),
  );

  test("one bit is another in many of them", async () => {
    const { run } = await copyOfDump();
    for (const path of files) await flipBit(join(run, path));
    const found = texts(await findingsOf(run)).filter((text) => text.includes("SHA-256"));
    expect(found.sort()).toEqual(
      files
        .toSorted()
        .map((path) =>
          expect.stringMatching(new RegExp(`^${path}: has the SHA-256 [0-9a-f]{64} instead of [0-9a-f]{64}$`)),
        ),
    );
  });

  test.runIf(inFull)("the end of many of them is missing", async () => {
    const { run } = await copyOfDump();
    const expected: string[] = [];
    for (const path of files) {
      const { length } = await readFile(join(run, path));
      await truncate(join(run, path), length - 30);
      expected.push(`${path}: has ${length - 30} bytes instead of ${length}`);
    }
    const found = texts(await findingsOf(run)).filter((text) => text.includes(" bytes instead of "));
    expect(found.sort()).toEqual(expected.sort());
  });

  test.runIf(inFull)("the last line feed of chunks is missing, and the manifest says so", async () => {
    const { run } = await copyOfDump();
    const paths = ["chunks.jsonl", "chunks.csv"];
    for (const path of paths) {
      const { length } = await readFile(join(run, path));
      await truncate(join(run, path), length - 1);
      await mend(run, path);
    }
    expect(texts(await findingsOf(run))).toEqual(paths.map((path) => `${path}: does not end with a line feed`));
  });

  test.runIf(inFull).each(["chunks.csv", "chunks.parquet"])("%s is empty, and the manifest says so", async (path) => {
    const { run } = await copyOfDump();
    await writeFile(join(run, path), "");
    await mend(run, path, 0);
    const found = texts(await findingsOf(run));
    expect(found[0]).toBe(`manifest.json: files: ${path} has 0 rows, counts.chunks is 17`);
    expect(found[1]).toMatch(new RegExp(`^${path}: cannot be read: (has no header|.*too small to be a Parquet file)$`));
    expect(found).toHaveLength(2);
  });
});

describe("the names in the folder", () => {
  test("a file is not there", async () => {
    const { run } = await copyOfDump();
    await rm(join(run, "chunks.csv"));
    expect(texts(await findingsOf(run))).toEqual(["chunks.csv: is not there"]);
  });

  test.runIf(inFull)("there are files and folders that the manifest does not list", async () => {
    const { run } = await copyOfDump();
    await writeFile(join(run, "chunks.jsonl.part"), "");
    await writeFile(join(run, ".hidden"), "");
    await mkdir(join(run, "more"));
    expect(texts(await findingsOf(run))).toEqual(
      [".hidden", "chunks.jsonl.part", "more"].map((name) => `${name}: is in the folder, but not in manifest.json`),
    );
  });

  test.runIf(inFull)("of many other files, some are named", async () => {
    const { run } = await copyOfDump();
    for (let at = 10; at < 50; at++) await writeFile(join(run, `more-${at}`), "");
    const { findings, finding_count } = await verifyRun(run);
    expect(finding_count).toBe(40);
    expect(findings).toHaveLength(21);
    expect(findings.at(-1)).toEqual({ file: ".", message: "and 20 more (not listed)" });
  });

  test.runIf(inFull)("files are symlinks, even to the same bytes", async () => {
    const { run, folder } = await copyOfDump();
    const paths = ["chunks.csv", "chunks.jsonl", "chunks.parquet"];
    for (const path of paths) {
      await rename(join(run, path), join(folder, path));
      await symlink(join(folder, path), join(run, path));
    }
    expect(texts(await findingsOf(run)).sort()).toEqual(
      paths.map((path) => `${path}: is a symlink, which is not followed`),
    );
  });

  test.runIf(inFull)("a file is a folder, and another a pipe, which is not waited for", async () => {
    const { run } = await copyOfDump();
    await rm(join(run, "chunks.csv"));
    await mkdir(join(run, "chunks.csv"));
    await rm(join(run, "documents.csv"));
    execFileSync("mkfifo", [join(run, "documents.csv")]);
    expect(texts(await findingsOf(run))).toEqual([
      "chunks.csv: is not a regular file",
      "documents.csv: is not a regular file",
    ]);
  });

  test.runIf(inFull)("a file is another's", async () => {
    const { run } = await copyOfDump();
    await copyFile(join(run, "child_chunks.csv"), join(run, "chunks.csv"));
    await mend(run, "chunks.csv", 15);
    expect(texts(await findingsOf(run))).toEqual([
      "manifest.json: files: chunks.csv has 15 rows, counts.chunks is 17",
      "chunks.csv: cannot be read: has another header",
    ]);
    await copyFile(join(run, "child_chunks.parquet"), join(run, "chunks.parquet"));
    await mend(run, "chunks.parquet", 15);
    expect(texts(await findingsOf(run)).at(-1)).toMatch(
      /^chunks.parquet: cannot be read: has other columns: dataset_id VARCHAR, /,
    );
  });

  test.runIf(inFull)("a format that was asked for is not there at all, and the manifest does not list it", async () => {
    const { run } = await copyOfDump();
    for (const kind of ["chunks", "child_chunks", "documents", "indexing_status", "metadata_fields"]) {
      await rm(join(run, `${kind}.csv`));
    }
    await editManifest(run, (manifest) => {
      manifest.files = manifest.files.filter(({ path }) => !path.endsWith(".csv"));
    });
    const found = texts(await findingsOf(run));
    expect(found).toHaveLength(5);
    expect(found[0]).toBe("manifest.json: files: chunks.csv is not listed, although its format was asked for");
  });
});
