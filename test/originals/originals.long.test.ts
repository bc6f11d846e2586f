import {
  appendFile,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  stat,
  symlink,
  unlink,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { RunResult } from "../../src/run/make-run.js";
import { pruneJob } from "../../src/run/prune-job.js";
import { listRuns } from "../../src/store/list-runs.js";
import { verifyRun } from "../../src/verify/verify-run.js";
import { refusing } from "../crawl/discover/discovering.js";
import { jobFor } from "../run/job-for.js";
import { brokenFile, file, redirect, startFileStore } from "../servers/file-store.js";
import { everyText, give, library, originalsOf, run, sha256, sign } from "./library.js";

test("the originals are in originals/<document_id>, and the manifest has the result of each", async () => {
  const place = await library(8);
  const { files, ids, datasets } = place;
  give(place, 1, "", { size: 7 });
  give(place, 2, "short", { size: 99 });
  give(place, 3, "via redirect");
  files.files.set("/3", redirect(`/moved?${sign}`));
  files.files.set("/moved", file("via redirect"));
  const document = datasets[0]?.documents.get(ids[4] ?? "");
  if (document) document.upload = null;
  files.files.delete("/5");
  give(place, 6, "broken off", { size: 20, name: "../../evil\u0000.txt" });
  files.files.set("/6", brokenFile("broken off", 20));
  const website = datasets[0]?.documents.get(ids[7] ?? "");
  if (website) website.listed = { data_source_type: "website_crawl" };
  const logged: string[] = [];
  const result = await run(place, {}, { log: (_level: string, text: string) => logged.push(text) });
  const { folder, manifest } = result;

  expect(manifest.status).toBe("complete");
  expect(originalsOf(result).map(({ document_id }) => document_id)).toEqual(ids.slice(0, 7));
  const said = originalsOf(result).map(({ path, bytes, expected_bytes, verdict }) => [
    path,
    bytes,
    expected_bytes,
    verdict,
  ]);
  expect(said).toEqual([
    [`originals/${ids[0]}/Guide 0.pdf`, 10, 10, "complete"],
    [null, 0, 7, "missing"],
    [`originals/${ids[2]}/Guide 2.pdf`, 5, 99, "wrong size"],
    [`originals/${ids[3]}/Guide 3.pdf`, 12, 12, "complete"],
    [null, 0, null, "missing"],
    [null, 0, 10, "missing"],
    [`originals/${ids[6]}/_.._evil_.txt`, 10, 20, "wrong size"],
  ]);
  expect(originalsOf(result)[0]).toEqual({
    dataset_id: datasets[0]?.id,
    document_id: ids[0],
    attachment_id: null,
    chunk_id: null,
    path: `originals/${ids[0]}/Guide 0.pdf`,
    name: "Guide 0.pdf",
    mime_type: "application/pdf",
    file_id: "upload-0",
    bytes: 10,
    expected_bytes: 10,
    sha256: sha256("original 0"),
    verdict: "complete",
    reason: null,
  });
  for (const { path, bytes, sha256: hash } of originalsOf(result)) {
    if (path === null) continue;
    const text = await readFile(join(folder, path), "utf8");
    expect([Buffer.byteLength(text), sha256(text)]).toEqual([bytes, hash]);
    expect((await stat(join(folder, path))).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, path, ".."))).mode & 0o777).toBe(0o700);
  }
  const warned = manifest.warnings.filter((warning) => warning.startsWith("the original of"));
  expect(warned).toHaveLength(5);
  expect(warned[0]).toMatch(/ is missing: it has 0 bytes, the service says 7$/);
  expect(warned[1]).toMatch(/ has the wrong size: it has 5 bytes, the service says 99$/);
  expect(warned[2]).toMatch(/ is missing: GET .*\/upload-file: 404 not_found UploadFile not found/);
  expect(warned[3]).toMatch(new RegExp(` is missing: GET ${files.url}: 404$`));
  expect(warned[4]).toMatch(/ has the wrong size: it has 10 bytes, the service says 20: GET /);
  for (const warning of warned) expect(logged).toContain(warning);
  expect(files.asked.every(({ authorization }) => authorization === undefined)).toBe(true);
  for (const text of [await everyText(place.folder), logged.join("\n")]) expect(text).not.toContain(sign);

  const verified = await verifyRun(folder);
  expect(verified).toMatchObject({ status: "sound", findings: [], checked: { originals: 4 } });
  expect(verified.checked.notes).toContainEqual(expect.stringMatching(/^5 of 7 originals were not complete when/));
  const [listed] = (
    await listRuns(
      { name: "test", output: { dir: join(place.folder, "out"), bucket: undefined, keep: undefined } },
      new Date(),
    )
  ).runs;
  expect(listed?.bytes).toBe([...manifest.files, ...originalsOf(result)].reduce((sum, { bytes }) => sum + bytes, 0));
});

test("chunks and child chunks are the same with and without, and a dump without the option has no word of it", async () => {
  const place = await library(2);
  const [saved, plain] = [await run(place), await run(place, { originals: false })];
  for (const { path, rows, bytes, sha256: hash } of plain.manifest.files)
    expect(saved.manifest.files).toContainEqual({ path, rows, bytes, sha256: hash });
  expect(plain.manifest).not.toHaveProperty("originals");
  expect(await readdir(plain.folder)).not.toContain("originals");
});

test("verify finds and describes later changes of an original", async () => {
  const place = await library(6);
  const result = await run(place);
  const { folder } = result;
  const paths = originalsOf(result).map(({ path }) => path ?? "");
  const at = (index: number) => join(folder, paths[index] ?? "");
  await writeFile(at(0), "ORIGINAL 0");
  await appendFile(at(1), "!");
  await unlink(at(2));
  await rename(at(3), `${at(3)}.moved`);
  await symlink(`${at(3)}.moved`, at(3));
  await rename(join(at(4), ".."), join(folder, "aside"));
  await symlink(join(folder, "aside"), join(at(4), ".."));
  await mkdir(join(folder, "originals", "stranger"));
  const { status, findings } = await verifyRun(folder);
  expect(status).toBe("differences");
  expect(findings).toEqual([
    { file: "aside", message: "is in the folder, but not in manifest.json" },
    { file: `${paths[3]}.moved`, message: "is in the folder, but not in manifest.json" },
    { file: "originals/stranger", message: "is in the folder, but not in manifest.json" },
    { file: paths[4]?.split("/").slice(0, -1).join("/"), message: "is a symlink, which is not followed" },
    { file: paths[2], message: "is not there" },
    { file: paths[3], message: "is a symlink, which is not followed" },
    { file: paths[0], message: `has the SHA-256 ${sha256("ORIGINAL 0")} instead of ${sha256("original 0")}` },
    { file: paths[1], message: "has 11 bytes instead of 10" },
    { file: paths[1], message: expect.stringMatching(/^has the SHA-256 /) },
  ]);
});

test("an original of the run before gets a second name and is not fetched again, if it is sound and the same upload", async () => {
  const place = await library(4);
  const first = await run(place);
  const inode = async ({ folder }: RunResult, index: number) =>
    (await stat(join(folder, originalsOf(first)[index]?.path ?? ""))).ino;
  await writeFile(join(first.folder, originalsOf(first)[1]?.path ?? ""), "ORIGINAL 1"); // the same size as before
  give(place, 2, "original 2", { id: "another-upload" });
  give(place, 3, "original 3, longer");
  place.files.asked.length = 0;
  const second = await run(place);
  expect(place.files.asked.map(({ url }) => url.split("?")[0]).sort()).toEqual(["/1", "/2", "/3"]);
  expect(await inode(second, 0)).toBe(await inode(first, 0));
  expect(originalsOf(second).map(({ verdict }) => verdict)).toEqual(["complete", "complete", "complete", "complete"]);
  expect(await readFile(join(second.folder, originalsOf(second)[1]?.path ?? ""), "utf8")).toBe("original 1");
  expect(await verifyRun(second.folder)).toMatchObject({ status: "sound" });
});

test("a planted link in the place of an original is not accepted", async () => {
  const place = await library(1);
  const first = await run(place);
  const path = join(first.folder, originalsOf(first)[0]?.path ?? "");
  const outside = join(place.folder, "outside.txt");
  await writeFile(outside, "original 0");
  await unlink(path);
  await symlink(outside, path);
  const second = await run(place);
  expect((await lstat(join(second.folder, originalsOf(second)[0]?.path ?? ""))).isFile()).toBe(true);
});

test("a file is tried again with a new address; if it stops twice at the same place, it is kept as incomplete", async () => {
  const place = await library(3);
  const { files, server } = place;
  files.files.set("/0", (response, nth) =>
    nth === 1 ? void response.writeHead(503).end() : file("original 0")(response),
  );
  files.files.set("/1", brokenFile("origin", 10));
  files.files.set("/2", (response, nth) => (nth === 1 ? brokenFile("orig", 10) : file("original 2"))(response));
  const result = await run(place, { service: { retries: 6 } });
  expect(originalsOf(result).map(({ verdict, bytes }) => [verdict, bytes])).toEqual([
    ["complete", 10],
    ["wrong size", 6],
    ["complete", 10],
  ]);
  expect(files.asked.filter(({ url }) => url.startsWith("/1"))).toHaveLength(2);
  expect(server.requests.filter(({ path }) => path.endsWith("/upload-file"))).toHaveLength(6);
  expect(result.manifest.requests.retried).toBe(3);
  expect(result.manifest.retries).toMatchObject({ 503: 1 });
});

test("of several tries that broke off, the longest is kept", async () => {
  const place = await library(1);
  place.files.files.set("/0", (response, nth) => brokenFile("original".slice(0, 9 - nth), 10)(response));
  const result = await run(place, { service: { retries: 1 } });
  expect(originalsOf(result)[0]).toMatchObject({ verdict: "wrong size", bytes: 8, sha256: sha256("original") });
  expect(await verifyRun(result.folder)).toMatchObject({ status: "sound" });
});

test("if Content-Length is too small or too large, the size that the service reports decides", async () => {
  const place = await library(2);
  place.files.files.set("/0", (response) => {
    response.socket?.end("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\noriginal 0");
  });
  place.files.files.set("/1", brokenFile("original 1", 999));
  const result = await run(place);
  expect(originalsOf(result).map(({ verdict, bytes }) => [verdict, bytes])).toEqual([
    ["wrong size", 4],
    ["complete", 10],
  ]);
});

test("a file above service.max_original is skipped, whether the service reports its size or not", async () => {
  const place = await library(2);
  give(place, 0, "x".repeat(1_000_001));
  give(place, 1, "y".repeat(1_000_001), { size: null });
  const result = await run(place, { service: { max_original: 1 } });
  for (const { verdict, reason, path } of originalsOf(result)) {
    expect([verdict, path]).toEqual(["missing", null]);
    expect(reason).toBe("it is longer than 1 MB; service.max_original sets the limit");
  }
  expect(place.files.asked.map(({ url }) => url.split("?")[0])).toEqual(["/1"]);
  expect(await readdir(result.folder)).not.toContain("originals");
});

test.each([
  ["the preview", (url: string) => ({ download_url: null, url: `${url}/0?${sign}` })],
  ["a relative one of the service", () => ({ download_url: "", url: "/v1/nowhere" })],
  ["none at all", () => ({ download_url: "ftp://x", url: 5 })],
])("where upload-file has no address to download: %s", async (what, more) => {
  const place = await library(1);
  give(place, 0, "original 0", more(place.files.url));
  const [original] = originalsOf(await run(place, { service: { retries: 0 } }));
  const asked = place.server.requests.map(({ path }) => path);
  if (what === "the preview") expect(original).toMatchObject({ verdict: "complete" });
  else expect(original?.reason).toMatch(/404$/);
  expect(asked.some((path) => path === "/v1/nowhere")).toBe(what.startsWith("a relative"));
  expect(asked.some((path) => path.endsWith(`/documents/${place.ids[0]}/download`))).toBe(what.startsWith("none"));
});

test("the service's own /download may answer the file, or a link to it", async () => {
  const place = await library(3);
  const gateway = await startFileStore();
  give(place, 0, "original 0", { download_url: null });
  give(place, 1, '{"url":5}', { download_url: null });
  give(place, 2, "x".repeat(70_000), { download_url: null });
  const { server, ids, files } = place;
  for (const [at, id] of ids.entries()) {
    const path = `/v1/datasets/${place.datasets[0]?.id}/documents/${id}/download`;
    const answers = [JSON.stringify({ url: `${files.url}/0?${sign}` }), '{"url":5}', "x".repeat(70_000)];
    gateway.files.set(path, file(answers[at] ?? ""));
  }
  // The gateway forwards all other requests to the service.
  const passOn = async (url: string) =>
    fetch(server.url.replace("/v1", url), { headers: { authorization: `Bearer ${server.key}` } });
  gateway.fallback = async (request, response) => {
    const answer = await passOn(request.url ?? "");
    const type = answer.headers.get("content-type") ?? "";
    response.writeHead(answer.status, { "content-type": type }).end(await answer.text());
  };
  let onDisk = "";
  const answer = files.files.get("/0");
  files.files.set("/0", async (response, nth) => {
    onDisk = await everyText(join(place.folder, "out"));
    answer?.(response, nth);
  });
  const result = await run(place, { service: { base_url: `${gateway.url}/v1` } });
  expect(originalsOf(result).map(({ verdict, bytes }) => [verdict, bytes])).toEqual([
    ["complete", 10],
    ["complete", 9],
    ["complete", 70_000],
  ]);
  expect(files.asked.map(({ authorization }) => authorization)).toEqual([undefined]);
  expect(onDisk).not.toBe("");
  expect(onDisk).not.toContain(sign);
});

test("an interrupted run keeps its complete files, and does not touch those of published runs", async () => {
  const place = await library(3);
  const { files, server } = place;
  const stop = new AbortController();
  files.files.set("/2", () => setTimeout(() => stop.abort(new Error("enough")), 300));
  await expect(run(place, {}, { signal: stop.signal })).rejects.toThrow("enough");
  files.files.set("/2", file("original 2"));
  files.asked.length = 0;
  const result = await run(place);
  expect(files.asked.map(({ url }) => url.split("?")[0])).toEqual(["/2"]);
  expect(originalsOf(result).map(({ verdict }) => verdict)).toEqual(["complete", "complete", "complete"]);
  expect(await verifyRun(result.folder)).toMatchObject({ status: "sound" });

  give(place, 0, "shorter", { size: 50 });
  server.behaviour.faults = refusing("/metadata/built-in", 403, "forbidden", "No.");
  const partial = await run(place);
  expect(partial.status).toBe("partial");
  give(place, 0, "as long as it should be");
  server.behaviour.faults = () => undefined;
  const mended = await run(place, {}, { retryFailed: true });
  expect(originalsOf(mended)[0]).toMatchObject({ verdict: "complete", bytes: 23 });
  for (const { folder } of [partial, mended]) expect(await verifyRun(folder)).toMatchObject({ findings: [] });
});

test("the wrong key ends the run, and is no verdict on a file", async () => {
  const place = await library(2);
  place.server.behaviour.faults = ({ path }) =>
    path.endsWith("/upload-file") ? { kind: "status", status: 401, code: "unauthorized", message: "No." } : undefined;
  await expect(run(place)).rejects.toThrow("the service does not accept the key");
});

test("prune removes a run with its originals, and leaves the shared file to the other", async () => {
  const place = await library(1);
  const [first, second] = [await run(place), await run(place)];
  const job = await jobFor(place.folder, {
    service: { base_url: place.server.url },
    datasets: "all",
    output: { dir: join(place.folder, "out"), formats: ["jsonl"], keep: { last: 1 } },
  });
  expect(await pruneJob(job)).toMatchObject({ failures: [] });
  await expect(lstat(first.folder)).rejects.toThrow("ENOENT");
  expect(await verifyRun(second.folder)).toMatchObject({ status: "sound" });
});
