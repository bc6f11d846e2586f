import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { RequestCounts } from "../../src/client/request-counts.js";
import { RetryError, SkipError } from "../../src/errors.js";
import { openDownloads } from "../../src/originals/download.js";
import { inFull } from "../rounds.js";
import { brokenFile, type FileStore, file, redirect, startFileStore } from "../servers/file-store.js";

const secret = "sign=SignatureThatNobodyMaySee";

/** A service, a file store on another origin, and a client for the service. */
async function opened({ timeout = 5, turn = async () => {} } = {}) {
  const [home, store] = [await startFileStore(), await startFileStore()];
  const stopped = new AbortController();
  const progress = new RequestCounts();
  const options = { baseUrl: `${home.url}/v1`, key: "the-key", connections: 2, timeout, env: {}, progress };
  const { download, ...downloads } = openDownloads({ turn, signal: stopped.signal }, options);
  onTestFinished(() => downloads[Symbol.asyncDispose]());
  const text = (address: string) =>
    download(address, async ({ announced, pieces }) => {
      const parts: Uint8Array[] = [];
      for await (const piece of pieces) parts.push(piece);
      return { text: Buffer.concat(parts).toString(), announced };
    });
  return { home, store, stopped, progress, text };
}

const keysSeenBy = ({ asked }: FileStore) => asked.map(({ authorization }) => authorization);

test("a relative address belongs to the service, which gets the key; the file is saved unchanged", async () => {
  const { home, text, progress } = await opened();
  home.files.set("/files/1/file-preview", file("the file"));
  expect(await text(`/files/1/file-preview?${secret}`)).toEqual({ text: "the file", announced: 8 });
  expect(home.asked).toMatchObject([
    {
      url: `/files/1/file-preview?${secret}`,
      authorization: "Bearer the-key",
      headers: { "accept-encoding": "identity" },
    },
  ]);
  expect(progress).toMatchObject({ sent: 1, answered: 1, bytes: 8 });
});

test("another origin never gets the key, and neither does the service after a redirect has left it", async () => {
  const { home, store, text } = await opened();
  home.files.set("/out", redirect(`${store.url}/back`));
  store.files.set("/back", redirect(`${home.url}/end`, 307));
  home.files.set("/end", file("home again"));
  expect((await text("/out")).text).toBe("home again");
  expect(keysSeenBy(home)).toEqual(["Bearer the-key", undefined]);
  expect(keysSeenBy(store)).toEqual([undefined]);
  store.files.set("/file", file("elsewhere"));
  expect((await text(`${store.url}/file`)).text).toBe("elsewhere");
  expect(keysSeenBy(store).at(-1)).toBeUndefined();
});

test("five redirects are followed, a sixth is not", async () => {
  const { store, text } = await opened();
  for (let at = 0; at < 6; at++) store.files.set(`/${at}`, redirect(`/${at + 1}`));
  store.files.set("/6", file("the end"));
  expect((await text(`${store.url}/1`)).text).toBe("the end");
  await expect(text(`${store.url}/0`)).rejects.toThrow(`GET ${store.url}: more than 5 redirects`);
});

test.each(["ftp://127.0.0.1/file", "file:///etc/passwd", "data:text/plain,x", "javascript:1", "http://", ""])(
  "nothing but http and https is asked: %s",
  async (address) => {
    const { home, text } = await opened();
    home.files.set("/away", redirect(address));
    await expect(text("/away")).rejects.toThrow(SkipError);
    await expect(text(address)).rejects.toThrow(SkipError);
    expect(home.asked).toHaveLength(1);
  },
);

test.each([
  [403, SkipError],
  [404, SkipError],
  [401, SkipError],
  [206, SkipError],
  [429, RetryError],
  [503, RetryError],
])(
  "a message on an answer %i leaves out the address and the body, which can hold a signature",
  async (status, kind) => {
    const { store, text } = await opened();
    store.files.set("/file", (response) => void response.writeHead(status).end(`<Error>${secret}</Error>`));
    const error = await text(`${store.url}/file?${secret}`).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(kind);
    expect(error).toMatchObject({ message: `GET ${store.url}: ${status}`, status });
  },
);

test("a file that is compressed without a request is refused, because its size would differ", async () => {
  const { store, text } = await opened();
  store.files.set("/file", file("x", { "content-encoding": "gzip" }));
  await expect(text(`${store.url}/file`)).rejects.toThrow("the file arrived compressed, which was not requested");
});

test("a file that breaks off, a closed port and a certificate that is none are errors that may pass or be skipped", async () => {
  const { store, text } = await opened();
  store.files.set("/file", brokenFile("some", 100));
  const broken = await text(`${store.url}/file?${secret}`).catch((reason: unknown) => reason);
  expect(broken).toBeInstanceOf(RetryError);
  expect(String(broken)).not.toContain(secret);
  const gone = await text(`http://127.0.0.1:1/file?${secret}`).catch((reason: unknown) => reason);
  expect(gone).toBeInstanceOf(RetryError);
  expect(String(gone)).toContain("GET http://127.0.0.1:1: connection refused");
  const noTls = await text(`${store.url.replace("http:", "https:")}/file?${secret}`).catch((reason: unknown) => reason);
  expect(String(noTls)).not.toContain(secret);
});

test.runIf(inFull)("the timeout counts for silence, not for the whole file", async () => {
  const { store, text } = await opened({ timeout: 1.5 });
  store.files.set("/slow", (response) => {
    response.writeHead(200);
    const send = async () => {
      for (let at = 0; at < 6; at++) {
        response.write("x");
        await sleep(400);
      }
      response.end();
    };
    void send();
  });
  store.files.set("/silent", (response) => void response.writeHead(200, { "content-length": "9" }).write("x"));
  expect((await text(`${store.url}/slow`)).text).toBe("xxxxxx");
  await expect(text(`${store.url}/silent`)).rejects.toThrow(`GET ${store.url}: nothing came for 1.5 s`);
});

test("every request waits for its turn, and ends with the client", async () => {
  let turns = 0;
  const { store, text, stopped } = await opened({
    turn: async () => {
      turns++;
    },
  });
  store.files.set("/1", redirect("/2"));
  store.files.set("/2", file("x"));
  await text(`${store.url}/1`);
  expect(turns).toBe(2);
  store.files.set("/never", () => {});
  const waiting = text(`${store.url}/never`);
  setTimeout(() => stopped.abort(new Error("it is over")), 50);
  await expect(waiting).rejects.toThrow("it is over");
});
