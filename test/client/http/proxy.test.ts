import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { HttpOptions } from "../../../src/client/open-client.js";
import { RetryError, StopError, UsageError } from "../../../src/errors.js";
import { inFull } from "../../rounds.js";
import { testFolder } from "../../run/job-for.js";
import { pemFile } from "../../servers/certificates.js";
import { type ProxyBehaviour, startProxy } from "../../servers/proxy.js";
import { openTestClient } from "../open-test-client.js";
import { everythingOf, openTestHttp, rejection } from "../open-test-http.js";
import { deadUrl, json, serve } from "../serve.js";

/** The host name in the test certificates; it does not resolve. */
const name = "elsewhere.example";
const portOf = (url: string) => Number(new URL(url).port);
const empty = json({ data: [], total: 0 });
const ref = { datasetId: "set", documentId: "doc", status: [], keyword: undefined };

/** A service, a proxy in front of it, and the client settings for both. */
async function startBoth(scheme: "http" | "https", behaviour: ProxyBehaviour = {}, answer = empty) {
  const { url, requests } = await serve(answer, scheme === "https" ? "other-name" : undefined);
  const proxy = await startProxy(portOf(url), behaviour);
  const variable = `${scheme.toUpperCase()}_PROXY`;
  const env = { [variable]: proxy.url };
  const options: Pick<Partial<HttpOptions>, "env" | "caFile"> = {
    env,
    ...(scheme === "https" ? { caFile: pemFile("other-name") } : {}),
  };
  return { requests, proxy, variable, options, base: `${scheme}://${name}/v1` };
}

describe.each(["http", "https"] as const)("a service over %s, through a proxy", (scheme) => {
  const withLogin = (env: NodeJS.ProcessEnv | undefined, login: string) =>
    Object.fromEntries(Object.entries(env ?? {}).map(([key, url]) => [key, url?.replace("//", `//${login}@`)]));

  it("answers through a proxy that gets no key, and gets no password of the proxy", async () => {
    const { base, options, proxy, requests } = await startBoth(scheme, { login: "me:p@ss" });
    const http = openTestHttp(base, { ...options, env: withLogin(options.env, "me:p%40ss") });
    const { status, url, body } = await http.get("/x?y=1");
    expect([status, url, http.received()]).toEqual([200, `${base}/x?y=1`, body.length]);
    expect(requests[0]).toMatchObject({ url: "/v1/x?y=1", method: "GET" });
    expect(requests[0]?.headers).toMatchObject({
      host: name,
      authorization: expect.stringMatching(/^Bearer dataset-/),
    });
    expect(requests[0]?.headers["proxy-authorization"]).toBeUndefined();
    expect(proxy.tunnels).toEqual([`${name}:${scheme === "https" ? 443 : 80}`]);
    expect(proxy.headers[0]?.authorization).toBeUndefined();
  });

  it.each([
    [
      { login: "me:right" },
      "",
      /the proxy 127\.0\.0\.1:\d+ wants a user and password \(407\); HTTPS?_PROXY holds them, as in http:\/\/user:password@127/,
    ],
    [{ login: "me:right" }, "me:wrong", /the proxy 127\.0\.0\.1:\d+ does not accept the user and password \(407\); /],
    [{ refusal: 502 }, "", /the proxy 127\.0\.0\.1:\d+ cannot reach https?:\/\/elsewhere.example \(502\)/],
    [
      { refusal: 403 },
      "",
      /the proxy \S+ refuses a connection to https?:\/\/elsewhere.example \(403\); is it allowed there\? NO_PROXY names/,
    ],
  ] as const)("%j with login '%s' names the proxy, and no password", async (behaviour, login, message) => {
    const { base, options } = await startBoth(scheme, behaviour);
    const env = login ? withLogin(options.env, login) : (options.env ?? {});
    const reported: string[] = [];
    const report = (text: string) => void reported.push(text);
    const client = openTestClient(base, { ...options, env, retries: 6, outage: 0, onRetry: report, say: report });
    const errors = await Promise.all([1, 2, 3].map((page) => rejection(client.chunks(ref, page))));
    for (const error of errors) {
      expect(error).toBeInstanceOf(StopError);
      expect(error.message).toMatch(message);
      expect(everythingOf(error)).not.toMatch(/wrong@|:wrong/);
    }
    expect(reported).toEqual([]);
  });

  it.runIf(inFull)("is not there when the proxy is not: the run ends, and the proxy is named", async () => {
    const dead = new URL(await deadUrl());
    const env = { HTTPS_PROXY: `http://me:secret@${dead.host}`, HTTP_PROXY: `http://me:secret@${dead.host}` };
    const reported: string[] = [];
    const options = { env, retries: 6, onRetry: (text: string) => void reported.push(text) };
    const error = await rejection(openTestClient(`${scheme}://${name}/v1`, options).chunks(ref, 1));
    expect(error).toBeInstanceOf(StopError);
    expect(error.message).toMatch(
      new RegExp(
        `^the service cannot be reached: GET \\S+: the proxy ${dead.host} cannot be reached: connection refused; check ${scheme.toUpperCase()}_PROXY$`,
      ),
    );
    expect(everythingOf(error)).not.toContain("secret");
    expect(reported).toEqual([]);
  });

  it.runIf(inFull)(
    "is asked for a few tunnels, and no more, by each run if it closes the connection in place of an answer",
    async () => {
      const { base, options, proxy, variable } = await startBoth(scheme, { refusal: "close" });
      for (const retries of [0, 6]) {
        const error = await rejection(openTestClient(base, { ...options, retries }).chunks(ref, 1));
        expect(error).toBeInstanceOf(StopError);
        expect(error.message).toMatch(
          new RegExp(
            `^the service cannot be reached: GET \\S+: the proxy ${proxy.host} closed the connection on CONNECT; is it a proxy\\? check ${variable}`,
          ),
        );
      }
      expect(proxy.tunnels.length).toBeLessThan(10);
    },
  );

  it("is named if it resets the connection", async () => {
    const { base, options, proxy, variable } = await startBoth(scheme, { refusal: "reset" });
    const error = await rejection(openTestClient(base, { ...options, outage: 0 }).chunks(ref, 1));
    expect(error).toBeInstanceOf(StopError);
    expect(error.message).toMatch(new RegExp(`the proxy ${proxy.host} .*${variable}`));
    expect(proxy.tunnels.length).toBeLessThan(10);
  });

  it("is named if it delays a tunnel", async () => {
    const { base, options, proxy, variable } = await startBoth(scheme, { refusal: "hang" });
    const error = await rejection(openTestClient(base, { ...options, retries: 6, silence: 0.1 }).chunks(ref, 1));
    expect(error).toBeInstanceOf(StopError);
    expect(error.message).toContain(
      `: no answer within 0.1 s, through the proxy ${proxy.host} that ${variable} names; check service.base_url`,
    );
    expect(proxy.tunnels.length).toBeLessThanOrEqual(2);
  });

  it("opens no more connections than allowed", async () => {
    const late: typeof empty = (request, response) => void setTimeout(() => empty(request, response), 20);
    const { base, options, requests, proxy } = await startBoth(scheme, {}, late);
    const http = openTestHttp(base, { ...options, connections: 3 });
    await Promise.all(Array.from({ length: 20 }, () => http.get()));
    expect(requests).toHaveLength(20);
    expect(proxy.mostOpen()).toBe(3);
  });

  it.each([1, 4])(
    "ends at the deadline and at the signal, be it the proxy that hangs (%i connections)",
    async (connections) => {
      const { base, options } = await startBoth(scheme, { refusal: "hang" });
      const error = await rejection(openTestHttp(base, { ...options, connections, timeout: 0.2 }).get());
      expect(error).toBeInstanceOf(RetryError);
      expect(error.message).toMatch(/no complete answer within 0.2 s|no connection in time/);
      const stop = new AbortController();
      const waiting = rejection(openTestHttp(base, { ...options, connections, signal: stop.signal }).get());
      setTimeout(() => stop.abort(new Error("enough")), 20);
      expect((await waiting).message).toBe("enough");
    },
  );

  it("bounds the body", async () => {
    const { base, options } = await startBoth(scheme, {}, json({ data: "x".repeat(9_000) }));
    const error = await rejection(openTestHttp(base, { ...options, maxBody: 1_000 }).get());
    expect(error).toMatchObject({ trouble: "too large" });
  });
});

it("certificates are checked behind the proxy; without a trusted one, nothing is sent", async () => {
  const { base, options, requests } = await startBoth("https");
  const error = await rejection(openTestHttp(base, { env: options.env ?? {} }).get());
  expect(error).toBeInstanceOf(StopError);
  expect(error.message).toContain("the certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT); service.ca_file");
  const otherName = await rejection(openTestHttp(base.replace(name, "other.example"), options).get());
  expect(otherName.message).toContain("ERR_TLS_CERT_ALTNAME_INVALID");
  expect(requests).toHaveLength(0);
});

it("the certificate of a TLS proxy is checked too", async () => {
  const { base, options, proxy } = await startBoth("https", { certificate: "one" });
  const env = { HTTPS_PROXY: proxy.url.replace("127.0.0.1", "localhost") };
  const error = await rejection(openTestHttp(base, { ...options, env }).get());
  expect(error).toBeInstanceOf(StopError);
  expect(error.message).toContain("DEPTH_ZERO_SELF_SIGNED_CERT");
  expect(proxy.headers).toEqual([]);
  const caFile = join(await testFolder(), "ca.pem");
  const both = await Promise.all(["one", "other-name"].map((certificate) => readFile(pemFile(certificate), "utf8")));
  await writeFile(caFile, both.join(""));
  expect((await openTestHttp(base, { caFile, env }).get()).status).toBe(200);
});

describe.each(["http", "https"] as const)("this machine, over %s", (scheme) => {
  /** The service at its own address, and an environment in which this variable names the proxy. */
  async function startHere(variable: string) {
    const { url, requests } = await serve(empty, scheme === "https" ? "one" : undefined);
    const proxy = await startProxy(portOf(url));
    const caFile = scheme === "https" ? pemFile("one") : undefined;
    const get = (env: NodeJS.ProcessEnv) => openTestHttp(url, { caFile, env: { [variable]: proxy.url, ...env } }).get();
    return { get, url, requests, proxy, host: new URL(url).host };
  }

  it.each(["http_proxy", "HTTP_PROXY"])("is reached through the proxy of %s", async (variable) => {
    const { get, proxy, requests, host } = await startHere(variable);
    expect((await get({ NO_PROXY: "elsewhere.example,127.0.0.0/8,127.0.0.1:1" })).status).toBe(200);
    expect([proxy.tunnels, requests.length]).toEqual([[host], 1]);
  });

  it("is reached directly if NO_PROXY names it, the lower-case name first", async () => {
    const { get, proxy, requests, host } = await startHere("HTTP_PROXY");
    for (const names of ["127.0.0.1", "elsewhere.example 127.0.0.1", host, "*", "0.0.1"]) {
      expect((await get({ NO_PROXY: names })).status).toBe(200);
      expect((await get({ no_proxy: names, NO_PROXY: "elsewhere.example" })).status).toBe(200);
    }
    expect([proxy.headers, requests.length]).toEqual([[], 10]);
    await get({ no_proxy: "", NO_PROXY: "*" });
    expect(proxy.tunnels).toEqual([host]);
  });
});

it("the proxy does not learn about a host in NO_PROXY, even if the host does not exist", async () => {
  const { host } = new URL(await deadUrl());
  const env = { HTTP_PROXY: "http://proxy.example", NO_PROXY: "127.0.0.1" };
  const http = openTestHttp(`http://${host}/v1`, { env, connections: 2 });
  const errors = [1, 2, 3, 4, 5, 6].map(() => http.get());
  for (const error of await Promise.all(errors.map(rejection))) {
    expect(error.message).toBe(`GET http://${host}/v1/x: connection refused by ${host}`);
  }
});

it("no handshake goes past the proxy when a service may speak TLS behind an http address", async () => {
  const { url } = await serve(empty, "one");
  const proxy = await startProxy(portOf(url));
  const plain = url.replace("https:", "http:");
  const messageWith = async (env: NodeJS.ProcessEnv) =>
    (await rejection(openTestClient(plain, { env }).chunks(ref, 1))).message;
  const env = { HTTP_PROXY: proxy.url };
  expect(await messageWith(env)).not.toContain("the server speaks TLS");
  expect(await messageWith({ ...env, NO_PROXY: "*" })).toContain("the server speaks TLS");
});

it("the environment of the process names no proxy", async () => {
  const { url } = await serve(empty);
  const proxy = await startProxy(portOf(url));
  vi.stubEnv("http_proxy", proxy.url);
  onTestFinished(() => void vi.unstubAllEnvs());
  expect((await openTestHttp(url, { env: {} }).get()).status).toBe(200);
  expect(proxy.headers).toEqual([]);
});

it("a proxy that is no URL is wrong usage, and not shown", () => {
  const open = () => openTestHttp("https://kb.example.com/v1", { env: { HTTPS_PROXY: "socks5://me:secret@p" } });
  expect(open).toThrow(UsageError);
  expect(open).toThrow(/^The proxy cannot be used:\n {2}HTTPS_PROXY: expected the URL of a proxy such as (?!.*secret)/);
});
