import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as zlib from "node:zlib";
import { expect, test } from "vitest";
import type { Compression } from "../../src/files/compression.js";
import { verifyRun } from "../../src/verify/verify-run.js";
import { runHere } from "../cli/run-here.js";
import { plainFolder } from "../dump/formats/folder.js";
import { editManifest, mend } from "./forge.js";
import { soundTables } from "./sound-tables.js";
import { writeDump } from "./write-dump.js";

const compressions = ["gzip", "zstd"] as const;

const endings = { none: "", gzip: ".gz", zstd: ".zst" };

/** A dump with one changed file. The manifest matches the new bytes, so only the decompressed text shows the change. */
async function damaged(compress: Compression, change: (bytes: Buffer) => Uint8Array) {
  const run = await writeDump(await plainFolder(), soundTables, { compress });
  const path = `chunks.jsonl${endings[compress]}`;
  await writeFile(join(run, path), change(await readFile(join(run, path))));
  await mend(run, path);
  return { run, path };
}

/** All findings for such a dump. */
async function foundAfter(compress: Compression, change: (bytes: Buffer) => Uint8Array): Promise<readonly string[]> {
  const { run, path } = await damaged(compress, change);
  const { findings } = await verifyRun(run);
  expect(new Set(findings.map(({ file }) => file))).toEqual(new Set([path]));
  return findings.map(({ message }) => message);
}

/** The problem is found twice: when the bytes are read and when the rows are read. */
const twice = (problem: string) => [problem, `cannot be read: ${problem}`];

const flipped = (bytes: Buffer) => bytes.with(-7, (bytes.at(-7) ?? 0) ^ 1); // flips a bit in the gzip checksum
const followedBy = (more: Uint8Array) => (bytes: Buffer) => Buffer.concat([bytes, more]);
const behind = twice("has something after the end of its compressed text");

test.each(compressions)("a file of %s is cut", async (compress) => {
  for (const length of [-30, 6, -4, -3, -2])
    expect(await foundAfter(compress, (bytes) => bytes.subarray(0, length))).toEqual(
      twice("ends in the middle of its compressed text"),
    );
});

test("the last byte of a file of zstd is cut off", async () => {
  expect(await foundAfter("zstd", (bytes) => bytes.subarray(0, -1))).toEqual(twice("has a damaged compressed text"));
});

test.each(compressions)("a file of %s is empty", async (compress) => {
  expect(await foundAfter(compress, () => Buffer.of())).toEqual(
    twice(`is empty, and not compressed with ${compress}, as its name says`),
  );
});

test.each(compressions)("a file of %s is damaged, or not compressed at all", async (compress) => {
  for (const bytes of [Buffer.from("{}\n"), Buffer.alloc(1, 0x1f)])
    expect((await foundAfter(compress, () => bytes))[0]).toBe(`is not compressed with ${compress}, as its name says`);
  expect((await foundAfter(compress, flipped))[0]).toBe("has a damaged compressed text");
});

test.each(compressions)("a file of %s has garbage after its end", async (compress) => {
  expect(await foundAfter(compress, followedBy(Buffer.from("garbage")))).toEqual(behind);
  expect(await foundAfter(compress, followedBy(Buffer.alloc(20)))).toEqual(behind);
});

test("a file of gzip has several members, whose texts are the text", async () => {
  const cut = (bytes: Buffer) => {
    const text = zlib.gunzipSync(bytes);
    return Buffer.concat([zlib.gzipSync(text.subarray(0, 100)), zlib.gzipSync(text.subarray(100))]);
  };
  const problem = "holds several compressed texts, one after the other, but a run writes one";
  expect(await foundAfter("gzip", cut)).toEqual(twice(problem));
  expect(await foundAfter("gzip", followedBy(zlib.gzipSync("")))).toEqual(twice(problem));
});

test.each(compressions)(
  "a bit of a file of %s is another, and the manifest lists the file as it was",
  async (compress) => {
    const run = await writeDump(await plainFolder(), soundTables, { compress });
    const path = `chunks.jsonl${endings[compress]}`;
    await writeFile(join(run, path), flipped(await readFile(join(run, path))));
    const [first] = (await verifyRun(run)).findings;
    expect(first).toMatchObject({ file: path, message: expect.stringMatching(/^has the SHA-256 \w+ instead of \w+$/) });
  },
);

test.each(compressions)("the manifest has another text of a file of %s", async (compress) => {
  const run = await writeDump(await plainFolder(), soundTables, { compress });
  await editManifest(run, ({ files }) =>
    Object.assign(files[0] ?? {}, { uncompressed: { bytes: 1, sha256: "0".repeat(64) } }),
  );
  const { findings } = await verifyRun(run);
  expect(findings.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^its text has \d+ bytes instead of 1$/),
    expect.stringMatching(/^its text has the SHA-256 \w{64} instead of 0{64}$/),
  ]);
});

test("the manifest contradicts itself about compression", async () => {
  const run = await writeDump(await plainFolder(), soundTables, { compress: "gzip" });
  const messages = async () => (await verifyRun(run)).findings.map(({ message }) => message);
  await editManifest(run, ({ files }) => {
    for (const file of files) Reflect.deleteProperty(file, "uncompressed");
  });
  expect(await messages()).toContain("files: chunks.jsonl.gz is compressed, and has no facts of its text");
});

test.each(compressions)("commands that read a damaged file of %s say that the dump is not sound", async (compress) => {
  const { run } = await damaged(compress, (bytes) => bytes.subarray(0, -30));
  for (const args of [
    ["sql", run, "FROM chunks"],
    ["diff", run, run],
    ["report", run],
    ["serve", run],
  ]) {
    const { code, stderr } = await runHere(args);
    expect({ code, stderr }, args[0]).toEqual({ code: 1, stderr: expect.stringMatching(notSound) });
  }
});

const notSound =
  /^kbdump: \S+ is not sound, so .*:\n {2}chunks\.jsonl\.\w+: ends in the middle of its compressed text\nkbdump verify \S+ shows everything that is wrong with it\n$/;
