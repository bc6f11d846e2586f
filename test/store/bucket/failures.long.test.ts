import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cp, mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { StopError, UsageError } from "../../../src/errors.js";
import { fetchFiles } from "../../../src/store/bucket/fetch-run.js";
import { startCuttingProxy } from "../../servers/cutting-proxy.js";
import { startProxy } from "../../servers/proxy.js";
import { envFor, hasS3, secretKey, startMoto, type TestStore } from "../../servers/start-s3.js";
import { keysBelow, newFolder, openAt, sha256Of } from "./bucket-helpers.js";

test("a disk that fills up while another file arrives is reported, not the file whose fetch it ends", async () => {
  const arrived = Promise.withResolvers<void>();
  const server = createServer(() => arrived.resolve()); // and never answers
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  const store = { env: envFor(`http://127.0.0.1:${(server.address() as AddressInfo).port}`) };
  const bucket = await openAt(store, "s3://kb-dumps/job");
  const full = Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
  const fetchFile: typeof bucket.fetchFile = async (key, ...more) => {
    if (key === "arriving") return bucket.fetchFile(key, ...more);
    await arrived.promise;
    throw full;
  };
  const files = ["arriving", "other"].map((key) => ({ key, path: key, bytes: 7, sha256: undefined }));
  const how = { step: "fetching", signal: new AbortController().signal };
  await expect(fetchFiles({ ...bucket, fetchFile }, await newFolder(), files, how)).rejects.toBe(full);
});

/** A store that refuses every request in the same way; its answer repeats the request, including secrets. */
async function startRefusing(status: number, code: string, headers: Readonly<Record<string, string>> = {}) {
  const server: Server = createServer((request, response) => {
    request.resume().on("end", () => {
      response.writeHead(status, { "content-type": "application/xml", ...headers });
      response.end(`<Error><Code>${code}</Code><Message>no ${secretKey}</Message><Region>eu-west-1</Region></Error>`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise((resolve) => void server.close(() => resolve())));
  return { env: envFor(`http://127.0.0.1:${(server.address() as AddressInfo).port}`) };
}

test.each([
  [403, "AccessDenied", /these credentials do not allow that. They need s3:GetObject/],
  [403, "InvalidAccessKeyId", /does not know this access key. Check AWS_ACCESS_KEY_ID/],
  [403, "SignatureDoesNotMatch", /does not belong to the access key. Check AWS_SECRET_ACCESS_KEY/],
  [403, "RequestTimeTooSkewed", /the clock of this machine differs/],
  [400, "ExpiredToken", /the credentials have expired/],
  [404, "NoSuchBucket", /there is no such bucket/],
  [
    301,
    "PermanentRedirect",
    /the bucket is in another region. Set AWS_REGION=eu-west-1 \(PermanentRedirect, 301\)$|AWS_REGION=eu/,
  ],
  [501, "NotImplemented", /does not support this request/],
  [418, "Teapot", /the store refuses: no \S* \(Teapot, 418\)$/],
])("%i %s says what to do, and shows no secret", async (status, code, message) => {
  const store = await startRefusing(status, code, { "x-amz-bucket-region": "eu-west-1" });
  const bucket = await openAt(store, "s3://kb-dumps/job");
  for (const ask of [
    () => bucket.read("head.json"),
    () => bucket.put("head.json", Buffer.from("a"), "absent"),
    () => keysBelow(bucket, "runs/"),
  ]) {
    const error = await ask().then(
      () => expect.fail("it was not refused"),
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(StopError);
    expect((error as Error).message).toMatch(/^cannot (read|write|list) s3:\/\/kb-dumps\/job\/(head.json|runs\/): /);
    expect((error as Error).message).toMatch(message);
    expect((error as Error).message).not.toContain(secretKey);
  }
});

test("an endpoint that refuses connections is named", async () => {
  const bucket = await openAt({ env: envFor("http://127.0.0.1:1") }, "s3://kb-dumps/job");
  await expect(bucket.read("head.json")).rejects.toThrow(
    "cannot read s3://kb-dumps/job/head.json: GET http://127.0.0.1:1/kb-dumps/job/head.json: connection refused",
  );
});

test("missing credentials are a UsageError that names the variables", async () => {
  const folder = await newFolder();
  vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
  for (const name of ["AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"]) vi.stubEnv(name, `${folder}/none`);
  onTestFinished(() => void vi.unstubAllEnvs());
  const bucket = await openAt({ env: { AWS_ENDPOINT_URL_S3: "http://127.0.0.1:1" } }, "s3://kb-dumps/job");
  const failed = bucket.read("head.json");
  await expect(failed).rejects.toBeInstanceOf(UsageError);
  await expect(failed).rejects.toThrow(
    "no credentials were found. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
  );
});

test("without the SDK, the message says how to install it", async () => {
  const folder = await newFolder();
  await cp("dist", `${folder}/dist`, { recursive: true });
  await cp("package.json", `${folder}/package.json`);
  await mkdir(`${folder}/node_modules`);
  for (const name of (await readdir("node_modules")).filter((name) => name !== "@aws-sdk"))
    await symlink(resolve("node_modules", name), `${folder}/node_modules/${name}`);
  const args = [`${folder}/dist/main.js`, "list", "--out", "s3://bucket/place"];
  const failed = await promisify(execFile)(process.execPath, args).catch((error: unknown) => error);
  expect(failed).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /A bucket needs the AWS SDK, .* npm install\s@aws-sdk\/client-s3 .* --global\s@aws-sdk/s,
    ),
  });
});

test("requests end with the signal of the bucket", async () => {
  const server = createServer(() => {}); // never answers
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { openBucket } = await import("../../../src/store/bucket/bucket.js");
  const ends = new AbortController();
  const env = envFor(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const bucket = await openBucket("s3://kb-dumps/job", { env, signal: ends.signal });
  setTimeout(() => ends.abort(new Error("enough")), 100);
  await expect(bucket.read("head.json")).rejects.toThrow("enough");
  await expect(bucket.put("head.json", Buffer.from("a"))).rejects.toThrow("enough");
});

describe.skipIf(!hasS3)("on a wire that loses answers", () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await startMoto();
    await store.makeBucket("kb-dumps");
  });
  afterAll(() => store.stop());

  test("a proxy of the environment is used, with its user and password, but not for this machine", async () => {
    const proxy = await startProxy(store.port, { login: "user:pass" });
    const HTTP_PROXY = proxy.url.replace("://", "://user:pass@");
    const far = { ...envFor("http://object-store:9000"), HTTP_PROXY };
    const bucket = await openAt({ env: far }, "s3://kb-dumps/proxy");
    await bucket.put("a", Buffer.from("a"));
    expect(new Set(proxy.tunnels)).toEqual(new Set(["object-store:9000"]));
    const asked = proxy.tunnels.length;
    const near = await openAt({ env: { ...store.env, HTTP_PROXY } }, "s3://kb-dumps/proxy");
    expect((await near.read("a"))?.bytes.toString()).toBe("a");
    expect(proxy.tunnels.length).toBe(asked);
    const stranger = await openAt({ env: { ...far, HTTP_PROXY: proxy.url } }, "s3://kb-dumps/proxy");
    await expect(stranger.read("a")).rejects.toThrow("wants a user and password (407); HTTP_PROXY holds them");
  });

  test.each([1, 2, 3])("a lost answer of a conditional write is settled, %i times lost", async (times) => {
    const proxy = await startCuttingProxy(store.port);
    const bucket = await openAt({ env: envFor(proxy.url) }, `s3://kb-dumps/lost-${times}`);
    proxy.cutAnswers("PUT", times);
    const first = await bucket.put("a", Buffer.from("one"), "absent");
    expect(proxy.cuts()).toBe(times);
    expect(first).toEqual({ etag: (await bucket.read("a"))?.etag });
    proxy.cutAnswers("PUT", times);
    expect(await bucket.put("a", Buffer.from("two"), { etag: '"0"' })).toBe("refused");
    expect((await bucket.read("a"))?.bytes.toString()).toBe("one");
  });

  test("a multipart upload whose last answer is lost is reconciled; one that cannot complete is aborted", async () => {
    const [proxy, folder] = [await startCuttingProxy(store.port), await newFolder()];
    const bucket = await openAt({ env: envFor(proxy.url) }, "s3://kb-dumps/parts");
    const bytes = randomBytes(17 * 1024 * 1024);
    await writeFile(`${folder}/a`, bytes);
    const facts = { bytes: bytes.length, sha256: sha256Of(bytes) };
    const put = (key: string) =>
      bucket.putFile(key, `${folder}/a`, { ...facts, condition: "absent", onBytes: () => proxy.cutAnswers("POST", 1) });
    expect(await put("a")).toHaveProperty("etag");
    await bucket.fetchFile("a", `${folder}/back`, facts);
    const killed = new AbortController();
    const broken = bucket.putFile("b", `${folder}/a`, {
      ...facts,
      signal: killed.signal,
      onBytes: () => killed.abort(new Error("killed")),
    });
    await expect(broken).rejects.toThrow("killed");
    expect(await keysBelow(bucket, "")).toEqual(["a"]);
    for await (const upload of bucket.uploads("")) expect.fail(JSON.stringify(upload));
  });
});
