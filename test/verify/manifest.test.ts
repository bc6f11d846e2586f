import { mkdir, readFile, rename, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { UsageError } from "../../src/errors.js";
import { verifyRun } from "../../src/verify/verify-run.js";
import { plainFolder } from "../dump/formats/folder.js";
import { editManifest } from "./forge.js";
import { soundTables } from "./sound-tables.js";
import { writeDump } from "./write-dump.js";

const soundDump = async () => writeDump(await plainFolder(), soundTables);
const findingsOf = async (run: string) =>
  (await verifyRun(run)).findings.map(({ file, message }) => `${file}: ${message}`);

const deep = "[".repeat(2_000_000) + "]".repeat(2_000_000);

/** The manifest entry of a complete original of the first document. */
function original(documents: unknown): object {
  const [{ dataset_id, document_id }] = documents as [Record<string, unknown>];
  const facts = { name: "x", mime_type: null, file_id: null, bytes: 3, expected_bytes: 3, sha256: "0".repeat(64) };
  const place = { attachment_id: null, chunk_id: null };
  return { dataset_id, document_id, path: "originals/a/x", ...facts, ...place, verdict: "complete", reason: null };
}

describe("a folder that is not a dump", () => {
  test("a folder without a manifest, an empty one, a missing path, a file", async () => {
    const run = await soundDump();
    await rename(join(run, "manifest.json"), join(run, "..", "manifest.json"));
    await mkdir(join(run, "empty"));
    for (const [path, reason] of [
      [run, "no manifest.json in it"],
      [join(run, "empty"), "no manifest.json in it"],
      [join(run, "gone"), "there is no such folder"],
      [join(run, "chunks.jsonl", "gone"), "there is no such folder"],
      [join(run, "chunks.jsonl"), "it is not a folder"],
    ] as const) {
      const error = await verifyRun(path).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(UsageError);
      expect(String(error)).toContain(`${path}: ${reason}`);
    }
  });
});

describe("a manifest that cannot be relied on", () => {
  test.each([
    ["cut", async (path: string) => truncate(path, 200), /^is not valid JSON: /],
    ["empty", async (path: string) => truncate(path, 0), /^is not valid JSON: /],
    ["not UTF-8", async (path: string) => writeFile(path, Buffer.from([0x22, 0xff, 0x22])), /^is not UTF-8$/],
    ["a list", async (path: string) => writeFile(path, "[]"), /^the whole: got \[\], expected an object$/],
    ["deep", async (path: string) => writeFile(path, deep), /^is nested more than 1000 deep$/],
    [
      "deep within",
      async (path: string) => writeFile(path, `{"a":"[","b":${deep}}`),
      /^is nested more than 1000 deep$/,
    ],
    ["larger than anything", async (path: string) => truncate(path, 500_000_001), /^is larger than 500 MB$/],
    ["a folder", async (path: string) => rm(path).then(() => mkdir(path)), /^is not a regular file$/],
  ])("%s", async (_what, damage, message) => {
    const run = await soundDump();
    await damage(join(run, "manifest.json"));
    const { status, findings, checked } = await verifyRun(run);
    expect(status).toBe("differences");
    expect(findings).toEqual([{ file: "manifest.json", message: expect.stringMatching(message) }]);
    expect(checked).toMatchObject({ run_id: null, files: 0 });
    expect(checked.notes).toHaveLength(1);
  });

  test("a symlink is not followed", async () => {
    const run = await soundDump();
    await rename(join(run, "manifest.json"), join(run, "..", "manifest.json"));
    await symlink(join(run, "..", "manifest.json"), join(run, "manifest.json"));
    expect(await findingsOf(run)).toEqual(["manifest.json: is a symlink, which is not followed"]);
  });

  test("everything that is wrong is said at once, each with its place", async () => {
    const run = await soundDump();
    await editManifest(run, (manifest) => {
      const [first = {}, second = {}, third = {}] = manifest.files;
      Object.assign(manifest, { retries: [], job: "../x", run_id: "..", status: "done", started_at: "today" });
      manifest.counts = { chunks: "3", child_chunks: -1, documents: 1.5, indexing_status: null };
      manifest.documents = [{ dataset_id: 1, status: "lost" }];
      Object.assign(first, { path: "../../x", rows: -1, sha256: "00" });
      Object.assign(second, { path: "/etc/passwd", bytes: 2 ** 60 });
      Object.assign(third, { path: "chunks.jsonl/../../x.jsonl" });
      manifest.drift = { x: "y" };
      manifest.warnings = "none";
      manifest.options = {};
    });
    const found = await findingsOf(run);
    expect(found).toHaveLength(21);
    const all = found.join("\n");
    for (const text of [
      'job: got "../x", expected the name of a job',
      'run_id: got "..", expected the id of a run',
      'status: got "done", expected complete or partial',
      "options.output: got nothing, expected an object",
      'counts.chunks: got "3", expected a whole number from 0',
      "counts.metadata_fields: got nothing, expected a whole number from 0",
      "documents[0].dataset_id: got 1, expected a text",
    ]) {
      expect(all).toContain(`manifest.json: ${text}`);
    }
  });

  test.each([
    "../../x",
    "/etc/passwd",
    "chunks.jsonl/../../x.jsonl",
    "chunks.jsonl\n",
    "x/chunks.jsonl",
    "",
    "CHUNKS.jsonl",
    "chunks.JSONL",
  ])("a path that leads anywhere else, %j, is never opened", async (path) => {
    const run = await soundDump();
    await editManifest(run, ({ files: [first] }) => Object.assign(first ?? {}, { path }));
    expect(await findingsOf(run)).toEqual([
      `manifest.json: files[0].path: got ${JSON.stringify(path)}, expected the name of a file of a dump, such as chunks.jsonl`,
    ]);
  });

  test.each([
    "../../x",
    "/etc/passwd",
    "originals/a/../../x",
    "originals/a/..",
    "originals/../x",
    "originals/a/b/c",
    "originals/a/",
    "originals//x",
    "originals/A/x",
    "originals/a/x\n",
    "originals/a/x\\y",
    "chunks.jsonl",
  ])("the path of an original that leads anywhere else, %j, is never opened", async (path) => {
    const run = await soundDump();
    await editManifest(run, (manifest) => {
      manifest.originals = [{ ...original(manifest.documents), path }];
    });
    expect(await findingsOf(run)).toEqual([
      `manifest.json: originals[0].path: got ${JSON.stringify(path)}, expected the path of an original, such as originals/a8e0…/Guide.pdf`,
    ]);
  });

  test("originals that contradict their verdicts, their documents or each other", async () => {
    const run = await soundDump();
    await editManifest(run, (manifest) => {
      const one = original(manifest.documents);
      manifest.originals = [
        { ...one, expected_bytes: 4 },
        { ...one, path: "originals/b/x" },
        { ...one, path: "originals/b/x", document_id: "another" },
        { ...one, path: null },
        { ...one, path: "originals/c/x", verdict: "missing" },
        { ...one, path: "originals/a/y-x", attachment_id: "y", chunk_id: "c" },
        { ...one, path: "originals/a/y-z", attachment_id: "y" },
      ];
    });
    const found = await findingsOf(run);
    expect(found.filter((finding) => finding.startsWith("manifest.json"))).toEqual([
      "manifest.json: originals: originals/b/x is listed twice",
      expect.stringMatching(/^manifest.json: originals: attachment y of document \S+ is listed twice$/),
      "manifest.json: originals: document another is not among the documents",
      expect.stringMatching(
        /^manifest.json: originals: that of document \S+ is complete with 3 bytes, but 4 are expected$/,
      ),
      expect.stringMatching(/^manifest.json: originals: that of document \S+ is complete, and its path is null$/),
      expect.stringMatching(
        /^manifest.json: originals: that of document \S+ is missing, and its path is originals\/c\/x$/,
      ),
      expect.stringMatching(/^manifest.json: originals: attachment y of document \S+ names no chunk$/),
    ]);
  });

  test("members that this version does not know are let pass", async () => {
    const run = await soundDump();
    await editManifest(run, (manifest) => {
      manifest.later = { a: 1 };
      manifest.requests = { ...(manifest.requests as object), by_reason: {} };
    });
    expect(await findingsOf(run)).toEqual([]);
  });

  test("for a manifest of another version, the error says what to do", async () => {
    const run = await soundDump();
    for (const [format, advice] of [
      [2, "run the job again, or use the version that wrote it"],
      [4, "update kbdump"],
    ] as const) {
      await editManifest(run, (manifest) => Object.assign(manifest, { format }));
      const message = `has format ${format}, and this version of kbdump reads format 3: ${advice}`;
      expect(await findingsOf(run)).toEqual([`manifest.json: ${message}`]);
    }
  });

  test("child lists that do not match its documents", async () => {
    const auto = { embedding: 0, reason: "", auto_asks: 0, auto_misses: 0 };
    const run = await soundDump();
    await editManifest(run, (manifest) => {
      const [{ dataset_id, document_id, chunk_count }] = manifest.documents as [Record<string, unknown>];
      const lists = {
        dataset_id,
        document_id,
        asked: Number(chunk_count) + 1,
        embedded: 0,
        skipped: 0,
        empty: 99,
        ...auto,
      };
      manifest.child_lists = [lists, { ...lists, document_id: "another" }];
    });
    expect(await findingsOf(run)).toEqual([
      expect.stringMatching(/^manifest.json: child_lists: document \S+ has \d+ chunks?, child_lists counts \d+$/),
      expect.stringMatching(/^manifest.json: child_lists: of document \S+, 99 lists of \d+ are empty$/),
      "manifest.json: child_lists: document another is not among the documents",
    ]);
    await editManifest(run, (manifest) => {
      manifest.child_lists = [{ asked: -1 }];
    });
    expect(await findingsOf(run)).toContain(
      "manifest.json: child_lists[0].asked: got -1, expected a whole number from 0",
    );
  });

  test("proofs that do not match its documents", async () => {
    const run = await soundDump();
    await editManifest(run, (manifest) => {
      const [{ dataset_id, document_id }] = manifest.documents as [Record<string, unknown>];
      const proof = { dataset_id, document_id, proof: "none" };
      manifest.proofs = [proof, { ...proof, document_id: "another" }];
    });
    const findings = await findingsOf(run);
    expect(findings[0]).toBe("manifest.json: proofs: document another is not among the documents");
    expect(findings[1]).toMatch(/^manifest.json: proofs: document \S+ is complete, its proof is none$/);
    for (const finding of findings.slice(2)) expect(finding).toMatch(/^manifest.json: proofs: .* is missing$/);
    await editManifest(run, (manifest) => {
      manifest.proofs = [{ document_id: 1 }];
    });
    expect(await findingsOf(run)).toContainEqual(
      expect.stringMatching(/^manifest.json: proofs\[0\].document_id: got 1/),
    );
  });

  test("an impossible shard, and one with formats other than JSONL", async () => {
    const run = await soundDump();
    const shard = { index: 5, count: 4, plan: "p", list: { documents: 1, bytes: 1, sha256: "0".repeat(64) } };
    await writeFile(join(run, "list.json"), "{}");
    await editManifest(run, (manifest) => {
      manifest.shard = shard;
      manifest.options = {
        output: { formats: ["csv", "duckdb"], csv_safe: false, compress: "none", partition: "none" },
      };
    });
    expect((await findingsOf(run)).filter((finding) => finding.startsWith("manifest.json"))).toEqual([
      "manifest.json: shard: 5 of 4 cannot be",
      "manifest.json: shard: it has 2 documents, the list of all shards has 1",
    ]);
    await editManifest(run, (manifest) => {
      manifest.shard = { ...shard, index: 0, list: { documents: 1, bytes: 1, sha256: "x" } };
    });
    expect(await findingsOf(run)).toEqual([
      "manifest.json: shard.index: got 0, expected a whole number from 1",
      'manifest.json: shard.list.sha256: got "x", expected a SHA-256',
    ]);
  });

  test("a file is listed twice", async () => {
    const run = await soundDump();
    await editManifest(run, (manifest) => {
      manifest.files = [...manifest.files, ...manifest.files.slice(0, 1)];
    });
    expect(await findingsOf(run)).toEqual(["manifest.json: files: chunks.jsonl is listed twice"]);
  });

  test("nothing in the folder is changed by a verification", async () => {
    const run = await soundDump();
    const before = await readFile(join(run, "manifest.json"));
    await verifyRun(run);
    expect(await readFile(join(run, "manifest.json"))).toEqual(before);
  });
});
