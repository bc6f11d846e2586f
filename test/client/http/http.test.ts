import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { RetryError, StopError } from "../../../src/errors.js";
import { tool } from "../../../src/tool.js";
import { everythingOf, openTestHttp, rejection, testKey } from "../open-test-http.js";
import { deadUrl, json, serve } from "../serve.js";

const text = '{"content":"Öffnungszeiten 附件 😀"}';

describe("what is sent", () => {
  it("is a GET with the key, no body, and nothing that a GET of ours does not need", async () => {
    const { url, requests } = await serve(json({}));
    await openTestHttp(url).get();
    const [request] = requests;
    expect(request?.method).toBe("GET");
    expect(request?.headers).toEqual({
      accept: "application/json",
      "accept-encoding": "gzip, deflate, br",
      "cache-control": "no-cache",
      authorization: `Bearer ${testKey}`,
      connection: "keep-alive",
      host: new URL(url).host,
      "user-agent": `kbdump/${tool.version}`,
    });
  });

  it.each([
    ["", "/v1/x"],
    ["/", "/v1/x"],
    ["/deep/er", "/v1/deep/er/x"],
    ["/with%20blank", "/v1/with%20blank/x"],
  ])("keeps the path of the base URL: …/v1%s", async (more, expected) => {
    const { url, requests } = await serve(json({}));
    const answer = await openTestHttp(url + more).get("/x");
    expect(requests[0]?.url).toBe(expected);
    expect(answer.url).toBe(new URL(url).origin + expected);
  });

  it("works without any path", async () => {
    const { url, requests } = await serve(json({}));
    await openTestHttp(new URL(url).origin).get("/x");
    expect(requests[0]?.url).toBe("/x");
  });

  it("never opens more connections than it may", async () => {
    const sockets = new Set<unknown>();
    const { url } = await serve((request, response) => {
      sockets.add(request.socket);
      setTimeout(() => response.end("{}"), 5);
    });
    const { get } = openTestHttp(url, { connections: 3 });
    await Promise.all(Array.from({ length: 20 }, () => get()));
    expect(sockets.size).toBe(3);
  });

  it("never opens more of them if each answer closes its connection", async () => {
    const open = new Set<unknown>();
    let most = 0;
    const { url } = await serve(({ socket }, response) => {
      most = Math.max(most, open.add(socket).size);
      socket.on("close", () => open.delete(socket));
      setTimeout(() => response.writeHead(200, { connection: "close" }).end("{}"), 5);
    });
    const { get } = openTestHttp(url, { connections: 1 });
    const getFive = async () => {
      for (let round = 0; round < 5; round++) await get();
    };
    await Promise.all([getFive(), getFive(), getFive(), getFive()]);
    expect(most).toBe(1);
  });
});

describe("what comes back", () => {
  it("resolves whatever the status, with headers and body", async () => {
    const { url } = await serve((_, response) => response.writeHead(503, { "Retry-After": "7" }).end("busy"));
    const { status, headers, body } = await openTestHttp(url).get();
    expect([status, headers["retry-after"], Buffer.from(body).toString()]).toEqual([503, "7", "busy"]);
  });

  it("is the answer behind one that only informs", async () => {
    const { url } = await serve((_, response) => {
      response.writeProcessing();
      response.writeEarlyHints({ link: "</style.css>; rel=preload" });
      response.writeHead(200, { "x-own": "1" }).end("{}");
    });
    const { status, headers, body } = await openTestHttp(url).get();
    expect([status, headers["x-own"], headers.link, Buffer.from(body).toString()]).toEqual([200, "1", undefined, "{}"]);
  });

  it("is no answer where the connection ends behind one that only informs", async () => {
    const { url } = await serve(({ socket }, response) => {
      response.writeEarlyHints({ link: "</style.css>; rel=preload" });
      setTimeout(() => socket.destroy(), 20);
    });
    const error = await rejection(openTestHttp(url).get());
    expect(error).toMatchObject({ status: undefined, trouble: "gone" });
  });

  it("does not follow a redirect", async () => {
    const other = await serve(json({}));
    const { url } = await serve((_, response) => response.writeHead(302, { location: `${other.url}/x` }).end());
    expect((await openTestHttp(url).get()).status).toBe(302);
    expect(other.requests).toHaveLength(0);
  });

  it.each([
    ["gzip", gzipSync(text)],
    ["x-gzip", gzipSync(text)],
    ["GZIP", gzipSync(text)],
    ["deflate", deflateSync(text)],
    ["deflate", deflateRawSync(text)], // some servers send raw deflate under that name
    ["br", brotliCompressSync(text)],
    ["identity", Buffer.from(text)],
  ])("decompresses %s", async (encoding, bytes) => {
    const { url } = await serve((_, response) => {
      response.writeHead(200, { "content-encoding": encoding });
      for (const byte of bytes) response.write(Buffer.from([byte]));
      response.end();
    });
    const { get, received } = openTestHttp(url);
    expect(Buffer.from((await get()).body).toString()).toBe(text);
    expect(received()).toBe(bytes.length);
  });

  it("accepts an empty body under any encoding as empty", async () => {
    const { url } = await serve((_, response) => response.writeHead(502, { "content-encoding": "gzip" }).end());
    expect((await openTestHttp(url).get()).body).toHaveLength(0);
  });

  it.each([
    ["gzip", gzipSync(text).subarray(0, -9), /the body is broken gzip/],
    ["deflate", deflateSync(text).subarray(0, -9), /the body is broken deflate/],
    ["br", brotliCompressSync(text).subarray(0, -3), /the body is broken br/],
    ["gzip", Buffer.from(text), /the body is broken gzip/],
    ["zstd", Buffer.from(text), /the body has the unknown encoding "zstd"/],
  ])("a %s body that is broken may be whole the next time", async (encoding, bytes, message) => {
    const { url } = await serve((_, response) => response.writeHead(200, { "content-encoding": encoding }).end(bytes));
    const error = await rejection(openTestHttp(url).get());
    expect(error).toBeInstanceOf(RetryError);
    expect(error.message).toMatch(message);
    expect(error.message).toContain(`GET ${url}/x: `);
    expect(error).toMatchObject({ status: 200 }); // the error has the status of the answer, so the service was reached
  });
});

describe("what breaks on the way", () => {
  it("a refused connection", async () => {
    const url = await deadUrl();
    const error = await rejection(openTestHttp(url).get());
    expect(error).toBeInstanceOf(RetryError);
    expect(error.message).toBe(`GET ${url}/x: connection refused by ${new URL(url).host}`);
  });

  it("refused connections on all addresses of a name", async () => {
    const url = (await deadUrl()).replace("127.0.0.1", "localhost");
    expect((await rejection(openTestHttp(url).get())).message).toContain("connection refused");
  });

  it("the connection is reset before an answer", async () => {
    const { url } = await serve((request) => request.socket.resetAndDestroy());
    const error = await rejection(openTestHttp(url).get());
    expect(error).toBeInstanceOf(RetryError);
    expect(error.message).toBe(`GET ${url}/x: the connection was reset`);
  });

  it("the connection is closed before an answer, or in the middle of the body", async () => {
    const { url } = await serve((request, response) => {
      if (request.url === "/v1/x") request.socket.end();
      else response.writeHead(200, { "content-length": "99" }).write("{", () => request.socket.destroy());
    });
    for (const path of ["/x", "/y"]) {
      const error = await rejection(openTestHttp(url).get(path));
      expect(error).toBeInstanceOf(RetryError);
      expect(error.message).toBe(`GET ${url}${path}: the connection was closed`);
    }
  });

  it("what answers speaks no HTTP", async () => {
    const { url } = await serve((request) => request.socket.end("SSH-2.0-OpenSSH_9.6\r\n"));
    const error = await rejection(openTestHttp(url).get());
    expect(error).toBeInstanceOf(RetryError);
    expect(error.message).toBe(`GET ${url}/x: the server there does not speak HTTP; check its port`);
  });

  it("shows the key nowhere, not in causes either", async () => {
    const { url } = await serve((request) => request.socket.end(`HTTP/1.1 2x0 ${testKey}\r\n\r\n${testKey}`));
    const error = await rejection(openTestHttp(url).get());
    expect(error).toBeInstanceOf(RetryError);
    expect(everythingOf(error)).not.toContain(testKey);
  });

  it("a key that no header can hold stops, and is not shown", async () => {
    const { url, requests } = await serve(json({}));
    const key = "dataset-line\nbreak";
    const error = await rejection(openTestHttp(url, { key }).get());
    expect(error).toBeInstanceOf(StopError);
    expect(everythingOf(error)).not.toContain(key);
    expect(requests).toHaveLength(0);
  });
});
