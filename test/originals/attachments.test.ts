import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Original } from "../../src/dump/manifest.js";
import { attachmentFiles } from "../../src/dump/open-dump.js";
import type { RunResult } from "../../src/run/make-run.js";
import { verifyRun } from "../../src/verify/verify-run.js";
import { inFull } from "../rounds.js";
import { brokenFile, file } from "../servers/file-store.js";
import type { JsonObject } from "../servers/json.js";
import { makeDocument, type TestDocument } from "../servers/store.js";
import { everyText, type Library, library, originalsOf, run, sha256 } from "./library.js";

/** A library with one document of `chunks` chunks. */
async function book(chunks: number): Promise<Library & { readonly document: TestDocument }> {
  const place = await library(1);
  const document = place.datasets[0]?.documents.get(place.ids[0] ?? "");
  if (!document) throw new Error("the library has one document");
  document.chunks = makeDocument({ chunks, seed: 7 }).chunks;
  for (const chunk of document.chunks) chunk.attachments = [];
  return { ...place, document };
}

const sign = "S".repeat(43);
const signature = `timestamp=1750000000&nonce=${"0".repeat(32)}&sign=${sign}=`;
const pathOf = (id: string) => `/files/${id}/file-preview`;

type Book = Awaited<ReturnType<typeof book>>;

/** Attaches a file to a chunk. `more` overrides what the service reports about the file. */
function attach({ document, files }: Book, at: number, id: string, bytes: string, more: JsonObject = {}): void {
  files.files.set(pathOf(id), file(bytes));
  const facts = { id, name: `${id}.png`, size: Buffer.byteLength(bytes), extension: "png", mime_type: "image/png" };
  const chunk = document.chunks[at];
  const others = Array.isArray(chunk?.attachments) ? chunk.attachments : [];
  if (chunk)
    chunk.attachments = [...others, { ...facts, source_url: `${files.url}${pathOf(id)}?${signature}`, ...more }];
}

const attached = (result: RunResult): readonly Original[] =>
  originalsOf(result).filter(({ attachment_id: id }) => id !== null);
const verdicts = (result: RunResult) => attached(result).map(({ attachment_id: id, verdict }) => `${id}: ${verdict}`);
/** The paths of the requested files. */
const fetched = ({ files }: Book) => files.asked.map(({ url }) => url.split("?")[0]).sort();
const chunksAsked = ({ server }: Book) => server.requests.filter(({ path }) => /\/segments\/[^/]+$/.test(path)).length;

test("files attached to chunks are saved beside the original, each once, and the manifest names their chunks", async () => {
  const place = await book(4);
  attach(place, 0, "a", "first");
  attach(place, 2, "b", "second", { name: "../b?" });
  attach(place, 2, "a", "first");
  attach(place, 3, "c", "short", { size: 99 });
  attach(place, 3, "gone", "");
  place.files.files.delete(pathOf("gone"));
  const { document } = place;
  const chunks = document.chunks.map(({ id }) => id);
  const logged: string[] = [];
  const result = await run(place, {}, { log: (_level: string, text: string) => logged.push(text) });

  expect(result.manifest.status).toBe("complete");
  expect(originalsOf(result).map(({ attachment_id, chunk_id, path }) => [attachment_id, chunk_id, path])).toEqual([
    [null, null, `originals/${document.id}/Guide 0.pdf`],
    ["a", chunks[0], `originals/${document.id}/a-a.png`],
    ["b", chunks[2], `originals/${document.id}/b-_b_`],
    ["c", chunks[3], `originals/${document.id}/c-c.png`],
    ["gone", chunks[3], null],
  ]);
  expect(attached(result)[0]).toEqual({
    ...{ dataset_id: place.datasets[0]?.id, document_id: document.id, attachment_id: "a", chunk_id: chunks[0] },
    ...{ path: `originals/${document.id}/a-a.png`, name: "a.png", mime_type: "image/png", file_id: "a" },
    ...{ bytes: 5, expected_bytes: 5, sha256: sha256("first"), verdict: "complete", reason: null },
  });
  expect(verdicts(result)).toEqual(["a: complete", "b: complete", "c: wrong size", "gone: missing"]);
  for (const { path, sha256: hash } of attached(result))
    if (path !== null) expect(sha256(await readFile(join(result.folder, path), "utf8"))).toBe(hash);

  const warned = result.manifest.warnings.filter((warning) => warning.startsWith("attachment "));
  expect(warned).toHaveLength(2);
  expect(warned[0]).toBe(
    `attachment "c.png" (c) of chunk ${chunks[3]} of document "${document.name}" (${document.id}) has the wrong size: it has 5 bytes, the service says 99`,
  );
  expect(warned[1]).toMatch(/^attachment "gone.png" \(gone\) of chunk .* is missing: GET .*: 404$/);
  for (const warning of warned) expect(logged).toContain(warning);
  expect(place.files.asked.every(({ authorization }) => authorization === undefined)).toBe(true);
  for (const text of [await everyText(place.folder), logged.join("\n")]) expect(text).not.toContain(sign);

  const verified = await verifyRun(result.folder);
  expect(verified).toMatchObject({ status: "sound", checked: { originals: 1, attachments: 3 } });
  expect(verified.checked.notes).toContainEqual(expect.stringMatching(/^2 of 4 attachments were not complete when/));
  expect([...attachmentFiles(result)]).toEqual([
    ["a", expect.objectContaining({ path: join(result.folder, `originals/${document.id}/a-a.png`), bytes: 5 })],
    ["b", expect.objectContaining({ name: "../b?", mime_type: "image/png", sha256: sha256("second") })],
  ]);
});

test("a job without originals asks for no attachment", async () => {
  const place = await book(1);
  attach(place, 0, "a", "first");
  const { manifest } = await run(place, { originals: false });
  expect(manifest).not.toHaveProperty("originals");
  expect([chunksAsked(place), fetched(place)]).toEqual([0, []]);
});

test.runIf(inFull).each([403, 404])(
  "a link that may have expired, which is a %i, is replaced by a fresh one",
  async (status) => {
    const place = await book(1);
    attach(place, 0, "a", "first");
    let later = 0;
    place.files.files.set(pathOf("a"), (response, nth) => {
      if (nth > 1) return file("first")(response);
      later = 61_000;
      response.writeHead(status).end();
    });
    const now = () => new Date(Date.now() + later);
    const result = await run(place, { service: { retries: 0 } }, { now });
    expect(verdicts(result)).toEqual(["a: complete"]);
    expect([chunksAsked(place), fetched(place)]).toEqual([2, ["/0", pathOf("a"), pathOf("a")]]);
  },
);

test.runIf(inFull).each([
  [403, 1],
  [404, 1],
  [410, 1],
  [500, 2],
])("a file whose address answers %i is asked for %i times at the most", async (status, tries) => {
  const place = await book(1);
  attach(place, 0, "a", "first");
  for (const path of ["/0", pathOf("a")]) place.files.files.set(path, (response) => response.writeHead(status).end());
  const result = await run(place, { service: { retries: 6 } });
  const reported = `GET ${place.files.url}: ${status}${tries === 1 ? "" : ` (${tries} tries)`}`;
  expect(originalsOf(result).map(({ verdict, reason }) => [verdict, reason])).toEqual([
    ["missing", reported],
    ["missing", reported],
  ]);
  for (const path of ["/0", pathOf("a")]) expect(fetched(place).filter((each) => each === path)).toHaveLength(tries);
});

test("a file that breaks off is tried again with a fresh link; a link may be relative to the service", async () => {
  const place = await book(1);
  attach(place, 0, "a", "first");
  attach(place, 0, "b", "second", { source_url: "/v1/nowhere" });
  place.files.files.set(pathOf("a"), (response, nth) => (nth === 1 ? brokenFile("fi", 5) : file("first"))(response));
  const result = await run(place);
  expect(verdicts(result)).toEqual(["a: complete", "b: missing"]);
  expect(chunksAsked(place)).toBe(3);
  expect(place.server.requests.filter(({ path }) => path === "/v1/nowhere")).toHaveLength(1);
});

test("an attachment that is gone, has no link or is too long is missing, with the reason", async () => {
  const place = await book(1);
  attach(place, 0, "a", "first");
  attach(place, 0, "b", "second", { source_url: null });
  attach(place, 0, "c", "x".repeat(1_000_001));
  place.server.behaviour.faults = ({ path }) => {
    const [chunk] = place.document.chunks;
    if (path.endsWith("/upload-file") && Array.isArray(chunk?.attachments))
      chunk.attachments = chunk.attachments.slice(1);
    return undefined;
  };
  const result = await run(place, { service: { max_original: 1, concurrency: 1 } });
  expect(attached(result).map(({ verdict, reason }) => `${verdict}: ${reason}`)).toEqual([
    "missing: the chunk no longer has it",
    "missing: the service returns no link to it",
    "missing: it is longer than 1 MB; service.max_original sets the limit",
  ]);
});

test.runIf(inFull).each([404, 405])(
  "an older service, which answers %i to a single chunk, has no attachments",
  async (status) => {
    const place = await book(1);
    attach(place, 0, "a", "first");
    const fault = { kind: "status", status, code: status === 404 ? "" : "method_not_allowed", message: "" } as const;
    place.server.behaviour.faults = ({ path }) => (/\/segments\/[^/]+$/.test(path) ? fault : undefined);
    const [original] = attached(await run(place));
    expect(original).toMatchObject({ verdict: "missing", name: null });
    expect(original?.reason).toMatch(/; an older service does not give a single chunk$/);
  },
);

test.runIf(inFull)("a continued run does not download again what it had", async () => {
  const place = await book(3);
  for (const at of [0, 1, 2]) attach(place, at, `file-${at}`, `bytes ${at}`);
  const stop = new AbortController();
  place.files.files.set(pathOf("file-2"), () => setTimeout(() => stop.abort(new Error("enough")), 300));
  await expect(run(place, {}, { signal: stop.signal })).rejects.toThrow("enough");
  place.files.files.set(pathOf("file-2"), file("bytes 2"));
  place.files.asked.length = 0;
  const result = await run(place);
  expect(fetched(place)).toEqual([pathOf("file-2")]);
  expect(verdicts(result)).toEqual(["file-0: complete", "file-1: complete", "file-2: complete"]);
  expect(await verifyRun(result.folder)).toMatchObject({ status: "sound" });
});

test("a run without originals that is continued with originals knows the attachments that it read before", async () => {
  const place = await book(2);
  attach(place, 1, "a", "first");
  const stop = new AbortController();
  let lists = 0;
  place.server.behaviour.faults = ({ path }) => {
    if (path.endsWith("/documents") && ++lists === 2) stop.abort(new Error("enough")); // all documents are read by then
    return undefined;
  };
  await expect(run(place, { originals: false }, { signal: stop.signal })).rejects.toThrow("enough");
  place.server.behaviour.faults = () => undefined;
  const before = place.server.requests.length;
  expect(verdicts(await run(place))).toEqual(["a: complete"]);
  expect(place.server.requests.slice(before).some(({ path }) => path.endsWith("/segments"))).toBe(false);
});

test.runIf(inFull)("the next run reuses a file of the same attachment and size, if it is sound", async () => {
  const place = await book(3);
  for (const at of [0, 1, 2]) attach(place, at, `file-${at}`, `bytes ${at}`);
  const first = await run(place);
  const path = attached(first)[1]?.path ?? "";
  await writeFile(join(first.folder, path), "BYTES 1");
  expect((await verifyRun(first.folder)).findings).toEqual([
    { file: path, message: `has the SHA-256 ${sha256("BYTES 1")} instead of ${sha256("bytes 1")}` },
  ]);
  const last = place.document.chunks[2];
  if (last) last.attachments = [];
  attach(place, 2, "file-2", "another size");
  place.files.asked.length = 0;
  const second = await run(place);
  expect(fetched(place)).toEqual([pathOf("file-1"), pathOf("file-2")]);
  expect(await verifyRun(second.folder)).toMatchObject({ status: "sound", checked: { attachments: 3 } });
});
