import { createHash } from "node:crypto";
import { appendFile, truncate, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { LocalFile } from "../../../src/client/write/write-outcome.js";
import { SkipError } from "../../../src/errors.js";
import { inFull } from "../../rounds.js";
import { testFolder } from "../../run/job-for.js";
import { JumpingClock } from "../jumping-clock.js";
import { rejection } from "../open-test-http.js";
import { serve } from "../serve.js";
import { answering, openTestWriter } from "./open-test-writer.js";

const made = { id: "new" };

/** A temporary file with these bytes. */
async function fileOf(bytes: string | Buffer, name = "a.txt"): Promise<LocalFile> {
  const path = join(await testFolder(), "0001");
  await writeFile(path, bytes);
  return { path, name, mime_type: "text/plain" };
}

/** The form fields by name, parsed by Node. */
async function partsOf(request: IncomingMessage): Promise<FormData> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  const headers = { "content-type": request.headers["content-type"] ?? "" };
  return new Response(Buffer.concat(pieces), { headers }).formData();
}

/** A server that accepts forms. */
async function takeForms(answer = answering(200, made)) {
  const forms: FormData[] = [];
  const served = await serve(async (request, response) => {
    forms.push(await partsOf(request));
    answer(request, response);
  });
  return { ...served, forms, writer: openTestWriter(served.url) };
}

describe("an uploaded file", () => {
  it("is noted by its name", async () => {
    const { writer } = await takeForms();
    const file = await fileOf("x");
    const hashOf = (value: unknown) => createHash("sha256").update(JSON.stringify(value)).digest("hex");
    expect(writer.uploadFile(file).sha256).toBe(hashOf(["a.txt"]));
  });

  it("is sent again with all of its bytes after a rate limit", async () => {
    let answers = 0;
    const { url, forms } = await takeForms((request, response) =>
      (answers++ === 0 ? answering(429, { code: "too_many" }) : answering(200, made))(request, response),
    );
    const writer = openTestWriter(url, new JumpingClock());
    expect(await writer.uploadFile(await fileOf("x".repeat(100_000))).send()).toMatchObject({
      kind: "done",
    });
    const sizes = forms.map((form) => (form.get("file") as File).size);
    expect(sizes).toEqual([100_000, 100_000]);
  });
});

it("a file is uploaded alone; one without a type goes by its name", async () => {
  const { writer, forms, requests } = await takeForms(answering(201, { id: "f", name: "a.txt", size: 0 }));
  const file = { ...(await fileOf("")), mime_type: null };
  expect(await writer.uploadFile(file).send()).toEqual({ kind: "done", value: { id: "f" } });
  expect(requests[0]?.url).toBe("/v1/datasets/pipeline/file-upload");
  const sent = forms[0]?.get("file") as File;
  expect([...(forms[0]?.keys() ?? [])]).toEqual(["file"]);
  expect([sent.name, sent.type, sent.size]).toEqual(["a.txt", "application/octet-stream", 0]);
});

it("a large file is read as fast as the service accepts it, and never as a whole", async () => {
  const file = await fileOf("");
  await truncate(file.path, 200_000_000);
  const inMemory = () => process.memoryUsage().rss;
  const before = inMemory();
  let after = 0;
  const { url } = await serve((request) => {
    request.once("data", () => {
      request.pause();
      setTimeout(() => {
        after = inMemory();
        request.socket.destroy();
      }, 200);
    });
  });
  expect(await openTestWriter(url).uploadFile(file).send()).toMatchObject({ kind: "unknown" });
  expect(after).toBeGreaterThan(0);
  expect(after - before).toBeLessThan(100_000_000);
});

describe("a file that cannot be read", () => {
  it.each([
    ["is gone", (path: string) => `${path}-gone`, /ENOENT/],
    ["is a folder", (path: string) => join(path, ".."), /it is not a file/],
  ])("%s: nothing is sent", async (_, pathFrom, reason) => {
    const { writer, requests } = await takeForms();
    const file = await fileOf("x");
    const path = pathFrom(file.path);
    const error = await rejection(writer.uploadFile({ ...file, path }).send());
    expect(error).toBeInstanceOf(SkipError);
    expect(error.message).toMatch(reason);
    expect(error.message.startsWith(`${path}: the file cannot be read, and was not sent: `)).toBe(true);
    expect(requests).toHaveLength(0);
  });

  it.runIf(inFull)("changes while it is sent: the form has no end, so that nothing was done", async () => {
    const file = await fileOf(Buffer.alloc(30_000_000, "x"));
    let isWhole = false;
    const { url } = await serve((request) => {
      request.once("data", () => {
        request.pause();
        void appendFile(file.path, "y").then(() => request.resume());
      });
      request.on("error", () => {});
      request.once("end", () => {
        isWhole = true;
      });
    });
    const error = await rejection(openTestWriter(url).uploadFile(file).send());
    expect(error).toBeInstanceOf(SkipError);
    expect(error.message).toContain(`${file.path}: the file cannot be read, and was not sent: it changed while`);
    expect(isWhole).toBe(false);
  });
});
