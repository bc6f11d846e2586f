import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { failedRequest, jobFileNames } from "../../src/client/failed-request.js";
import { type ClientOptions, type Environment, type HttpOptions, openClient } from "../../src/client/open-client.js";
import { RequestCounts } from "../../src/client/request-counts.js";
import type { Answer, Request } from "../../src/client/retry.js";
import { SkipError, StopError } from "../../src/errors.js";
import { inFull } from "../rounds.js";
import { openTestClient } from "./open-test-client.js";
import { rejection } from "./open-test-http.js";
import { VirtualClock } from "./virtual-clock.js";

type Reply = Pick<Answer, "status"> & { readonly body?: string; readonly headers?: Answer["headers"] };
const good: Reply = { status: 200, body: '{"data":[],"total":0}' };
const gateway: Reply = { status: 502, body: "<title>502 Bad Gateway</title>" };
const daemonGone: Reply = {
  status: 400,
  body: '{"code":"invalid_param","message":"Failed to request plugin daemon, url: plugin/x","status":400}',
};

/** A client whose time is virtual. `reply` gets the second at which a request arrives, and returns its answer or an error code. */
function startClient(
  reply: (seconds: number, path: string, page: number) => Reply | string,
  more: Partial<ClientOptions> = {},
  latency = 20,
  environment: Partial<Environment> = {},
) {
  const clock = new VirtualClock();
  const reported: string[] = [];
  const reportedAt: number[] = [];
  const sent: { readonly at: number; readonly path: string }[] = [];
  const openHttp = ({ signal, timeout, silence }: HttpOptions) => ({
    close: async () => {},
    send: async ({ path, query }: Request): Promise<Answer> => {
      signal.throwIfAborted();
      sent.push({ at: clock.now / 1_000, path });
      await clock.sleep(latency);
      const came = reply(clock.now / 1_000, path, Number(query[0]?.[1]));
      if (came === "SILENCE") await clock.sleep((silence?.() ?? timeout) * 1_000);
      const url = `http://kb.example/v1${path}`;
      if (typeof came === "string") throw failedRequest(Object.assign(new Error(came), { code: came }), url);
      return { url, headers: {}, ...came, body: Buffer.from(came.body ?? "") };
    },
  });
  const client = openClient({
    baseUrl: "http://kb.example/v1",
    key: "k",
    say: (text) => {
      reported.push(text);
      reportedAt.push(clock.now);
    },
    onRetry: (text) => reported.push(`retry: ${text}`),
    environment: {
      openHttp,
      now: () => clock.now,
      sleep: clock.sleep,
      random: () => 0.5,
      turn: async (_, work) => work(),
      ...environment,
    },
    ...more,
  });
  const chunks = (page: number, documentId = "doc", datasetId = "set") =>
    client.chunks({ datasetId, documentId, status: [], keyword: undefined }, page);
  return { clock, reported, reportedAt, sent, client, chunks };
}

/** Page numbers from 1 to `count`. */
const pages = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe("a service that goes away for 34 s", () => {
  it.each([
    ["ECONNREFUSED", 1],
    ["ECONNREFUSED", 8],
    ["ENOTFOUND", 8],
    ["ECONNRESET", 8],
    [gateway, 8],
  ])("%j, %i in flight: one asks for all, nothing is lost, two lines tell of it", async (trouble, concurrency) => {
    const isAway = (at: number) => at >= 1 && at < 35;
    const { clock, reported, sent, chunks } = startClient((at) => (isAway(at) ? trouble : good), {
      concurrency,
      retries: 3,
    });
    await clock.until(Promise.all(pages(600).map((page) => chunks(page))));
    expect(clock.now / 1_000).toBeLessThan(55);
    expect(sent.filter(({ at }) => at > 2.5 && isAway(at)).length).toBeLessThan(12);
    expect(reported).toEqual([
      expect.stringMatching(/^the service is down: GET \S+ .+; waiting for up to 300 s$/),
      expect.stringMatching(/^the service is back after 3\d s$/),
    ]);
  });

  it.each([
    [jobFileNames, /the service was down for 20 s, which service.outage sets: GET .*; what was read is kept$/],
    [{ ...jobFileNames, outage: null }, /the service was down for 20 s: GET .*; what was read is kept$/],
  ])("outlasts only as long as it shall, and says so", async (names, message) => {
    const { clock, reported, chunks } = startClient((at) => (at < 1 ? good : "ECONNREFUSED"), { outage: 20, names });
    const errors = await clock.until(
      Promise.all(
        pages(600).map((page) =>
          chunks(page).then(
            () => undefined,
            (error: unknown) => error,
          ),
        ),
      ),
    );
    const failed = errors.filter((error) => error !== undefined);
    expect(new Set(failed).size).toBe(1);
    expect(failed[0]).toBeInstanceOf(StopError);
    expect(String(failed[0])).toMatch(message);
    expect(clock.now / 1_000).toBeGreaterThan(20);
    expect(clock.now / 1_000).toBeLessThan(24);
    expect(reported).toHaveLength(1);
  });

  it("a lane that is ended meanwhile takes no probe away from the others", async () => {
    const isAway = (at: number) => at >= 1 && at < 7;
    const { clock, client, chunks } = startClient((at) => (isAway(at) ? "ECONNREFUSED" : good), { concurrency: 6 });
    await clock.until(chunks(1));
    await clock.until(clock.sleep(1_000));
    const lanes = [new AbortController(), new AbortController()].map((ends) => ({
      ends,
      lane: client.openLane({ connections: 3, signal: ends.signal }),
    }));
    const document = { datasetId: "set", documentId: "doc", status: [], keyword: undefined };
    const settled = lanes.map(({ lane }) => Promise.allSettled(pages(3).map((page) => lane.chunks(document, page))));
    void clock.sleep(3_000).then(() => lanes[0]?.ends.abort(new Error("its lock is lost")));
    const [ended, others] = await clock.until(Promise.all(settled));
    expect(ended?.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(others?.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled"]);
    expect(clock.now / 1_000).toBeLessThan(20);
  });

  it.each([
    ["UND_ERR_CONNECT_TIMEOUT", 10_000],
    ["TIMEOUT", 60_000],
  ])("a probe that ends with %s has no other beside it", async (code, latency) => {
    const clock = new VirtualClock();
    const probes = { underWay: 0, most: 0 };
    const isAway = () => clock.now > 1_000 && clock.now < 100_000;
    const send = async ({ path }: Request): Promise<Answer> => {
      const isProbe = clock.now > 3_000 && isAway();
      const fails = isAway() ? (clock.now > 3_000 ? code : "ECONNREFUSED") : undefined;
      if (isProbe) probes.most = Math.max(probes.most, ++probes.underWay);
      await clock.sleep(isProbe ? latency : 20);
      if (isProbe) probes.underWay--;
      const url = `http://kb.example/v1${path}`;
      if (fails) throw failedRequest(Object.assign(new Error(fails), { code: fails }), url);
      return { url, headers: {}, status: 200, body: Buffer.from('{"data":[],"total":0}') };
    };
    const { chunks } = startClient(() => good, {}, 20, {
      openHttp: () => ({ close: async () => {}, send }),
      now: () => clock.now,
      sleep: clock.sleep,
    });
    await clock.until(Promise.all(pages(800).map((page) => chunks(page))));
    expect(probes).toEqual({ underWay: 0, most: 1 });
  });

  it("requests that were cancelled meanwhile do not delay the probe", async () => {
    const isAway = (at: number) => at >= 1 && at < 12;
    const { clock, client, chunks } = startClient((at) => (isAway(at) ? "ECONNREFUSED" : good), { concurrency: 24 });
    await clock.until(chunks(1));
    await clock.until(clock.sleep(1_000));
    const ends = new AbortController();
    const ended = client.openLane({ connections: 16, signal: ends.signal });
    const document = { datasetId: "set", documentId: "doc", status: [], keyword: undefined };
    const settled = Promise.allSettled(pages(16).map((page) => ended.chunks(document, page)));
    void clock.sleep(8_000).then(() => ends.abort(new Error("its lock is lost")));
    const others = clock.sleep(100).then(() => Promise.all(pages(3).map((page) => chunks(page))));
    await clock.until(Promise.all([settled, others]));
    expect(clock.now / 1_000).toBeLessThan(25);
  });

  it("outage: 0 does not wait", async () => {
    const { clock, chunks } = startClient((at) => (at < 0.1 ? good : "ECONNREFUSED"), { outage: 0 });
    await clock.until(chunks(1));
    await clock.until(Promise.all(pages(60).map((page) => rejection(chunks(page)).catch(() => {}))));
    expect(await clock.until(rejection(chunks(1)))).toBeInstanceOf(StopError);
    expect(clock.now / 1_000).toBeLessThan(1);
  });

  it("ends at once when the signal is aborted", async () => {
    const stop = new AbortController();
    const { clock, chunks } = startClient((at) => (at < 0.03 ? good : "ECONNREFUSED"), { signal: stop.signal });
    await clock.until(chunks(1));
    const errors = Promise.all(pages(40).map((page) => rejection(chunks(page + 300))));
    await clock.until(clock.sleep(8_000));
    stop.abort(new Error("enough"));
    for (const error of await clock.until(errors)) expect(error.message).toBe("enough");
  });
});

describe("a service that does not answer when the run starts", () => {
  it.each(["ECONNREFUSED", "ENOTFOUND"])("%s: the run ends within 3 s and says why", async (trouble) => {
    const { clock, chunks } = startClient(() => trouble);
    const error = await clock.until(rejection(chunks(1)));
    expect(error).toBeInstanceOf(StopError);
    expect(error.message).toMatch(
      /cannot be reached: GET .*(connection refused by kb\.example; check that the service runs and that service.base_url is right|unknown host name.*; check service.base_url)/,
    );
    expect(clock.now).toBeLessThan(3_000);
  });

  it.each([502, 503, 504].flatMap((status) => [1, 8].map((count) => [status, count] as const)))(
    "a proxy that answers %i to %i requests: a line says so within 3 s, and the run ends after 20 s",
    async (status, count) => {
      const unlucky = { random: () => 0.999 };
      const { clock, reported, reportedAt, chunks } = startClient(
        () => ({ status, body: "<title>no one</title>" }),
        {},
        100,
        unlucky,
      );
      const errors = await clock.until(Promise.all(pages(count).map((page) => rejection(chunks(page)))));
      for (const error of errors) expect(error).toBeInstanceOf(StopError);
      expect(reported).toEqual([expect.stringMatching(/^the service is down: GET .*; waiting for up to 20 s$/)]);
      expect(reported[0]).toContain(String(status));
      expect(reportedAt[0]).toBeLessThan(3_000);
      expect(clock.now).toBeLessThan(23_000);
    },
  );
});

describe("a service that answers nothing in time", () => {
  it.each([1, 8, 40])("ends the run within 25 s if it never did, with %i requests at once", async (concurrency) => {
    const { clock, sent, chunks } = startClient(() => "SILENCE", { concurrency });
    const errors = await clock.until(Promise.all(pages(60).map((page) => rejection(chunks(page)))));
    expect(clock.now / 1_000).toBeGreaterThan(20);
    expect(clock.now / 1_000).toBeLessThan(25);
    expect(sent.length).toBeLessThanOrEqual(2 * concurrency);
    expect(new Set(errors).size).toBe(1);
    expect(errors[0]).toBeInstanceOf(StopError);
    expect(errors[0]?.message).toMatch(/^the service cannot be reached: GET .*; check service.base_url$/);
  });

  it("has its usual time and all its tries once it has answered", async () => {
    const { clock, sent, chunks } = startClient((_, __, page) => (page === 1 ? good : "SILENCE"), {
      timeout: 30,
      retries: 3,
    });
    await clock.until(chunks(1));
    expect(await clock.until(rejection(chunks(2)))).toBeInstanceOf(SkipError);
    const ofPage2 = sent.slice(1).filter(({ at }) => at < 4 * 31);
    expect(ofPage2.length).toBe(4);
    expect(clock.now / 1_000).toBeGreaterThan(4 * 30);
  });

  it("lasts at most service.timeout, if that is shorter", async () => {
    const { clock, chunks } = startClient(() => "SILENCE", { timeout: 2 });
    expect(await clock.until(rejection(chunks(1)))).toBeInstanceOf(StopError);
    expect(clock.now / 1_000).toBeLessThan(6);
  });
});

it.runIf(inFull)("a real service that restarts: all pages come, each once, and no retry is reported", async () => {
  let answered = 0;
  const start = (port: number) =>
    new Promise<Server>((resolve) => {
      const server = createServer((_, response) => {
        answered++;
        setTimeout(() => response.end(good.body), 5);
      });
      server.listen(port, "127.0.0.1", () => resolve(server));
    });
  const first = await start(0);
  const { port } = first.address() as AddressInfo;
  const reported: string[] = [];
  const client = openTestClient(`http://127.0.0.1:${port}/v1`, {
    retries: 2,
    say: (text) => reported.push(text),
    onRetry: (text) => reported.push(text),
  });
  const ref = { datasetId: "set", documentId: "doc", status: [], keyword: undefined };
  const all = Promise.all(pages(500).map((page) => client.chunks(ref, page)));
  await expect.poll(() => answered, { interval: 1 }).toBeGreaterThan(50);
  first.close();
  first.closeAllConnections();
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  const second = await start(port);
  onTestFinished(() => void second.close());
  expect(await all).toHaveLength(500);
  expect(reported).toEqual([expect.stringContaining("is down"), expect.stringMatching(/is back after [3-5] s$/)]);
});

describe("what is no outage of the service", () => {
  it.each(["ECONNRESET", gateway])(
    "one page that always gets %j fails alone, and the others go on",
    async (trouble) => {
      const { clock, reported, chunks } = startClient((_, __, page) => (page === 7 ? trouble : good), { retries: 2 });
      const outcomes = await clock.until(Promise.allSettled(pages(40).map((page) => chunks(page))));
      const failed = outcomes.flatMap((outcome, index) => (outcome.status === "rejected" ? [index + 1] : []));
      expect(failed).toEqual([7]);
      expect(clock.now / 1_000).toBeLessThan(30);
      expect(reported.filter((text) => text.includes("away")).length).toBeLessThan(2);
    },
  );

  it("a 504 that took a minute is one page's: it is given up after its tries, and can be halved", async () => {
    const slow: Reply = { status: 504, body: "" };
    const { clock, reported, chunks, sent } = startClient(
      (_, __, page) => (page === 7 ? slow : good),
      { retries: 1 },
      60_000,
    );
    const outcomes = await clock.until(Promise.allSettled(pages(8).map((page) => chunks(page))));
    const [failed] = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
    expect(failed).toBeInstanceOf(SkipError);
    expect(failed.cause).toMatchObject({ status: 504, trouble: undefined });
    expect(sent).toHaveLength(9);
    expect(reported).toEqual([expect.stringMatching(/^retry: GET .*: 504$/)]);
  });
});

describe("a plugin daemon that is away", () => {
  it("blocks only lists of the kind and dataset that need it, and is waited for", async () => {
    const isAway = (at: number) => at >= 1 && at < 60;
    const progress = new RequestCounts();
    const { clock, reported, chunks, sent } = startClient(
      (at, path) => (isAway(at) && path.includes("/high/") ? daemonGone : good),
      { retries: 0, progress },
    );
    const economy = Promise.all(pages(400).map((page) => chunks(page, "doc", "economy"))).then(() => clock.now / 1_000);
    const high = Promise.all(pages(800).map((page) => chunks(page, "doc", "high"))).then(() => clock.now / 1_000);
    expect(await clock.until(economy)).toBeLessThan(4);
    expect(await clock.until(high)).toBeGreaterThan(60);
    expect(clock.now / 1_000).toBeLessThan(72);
    expect(sent.filter(({ at, path }) => at > 3 && isAway(at) && path.includes("/high/")).length).toBeLessThan(16);
    expect(reported).toEqual([
      expect.stringMatching(/^the plugin daemon is down: GET .* 400 invalid_param Failed to request plugin daemon, /),
      expect.stringMatching(/^the plugin daemon is back after [56]\d s$/),
    ]);
  });

  it("fails documents when its time is over, each at once from then on, and does not end the run", async () => {
    const { clock, chunks } = startClient((_, path) => (path.includes("/high/") ? daemonGone : good), { outage: 60 });
    const errors = await clock.until(Promise.all(pages(20).map((page) => rejection(chunks(page, "doc", "high")))));
    for (const error of errors) expect(error).toBeInstanceOf(SkipError);
    expect(errors[0]?.message).toContain("(down for 60 s)");
    expect(clock.now / 1_000).toBeLessThan(66);
    const before = clock.now;
    expect(await clock.until(rejection(chunks(1, "another", "high")))).toBeInstanceOf(SkipError);
    await clock.until(chunks(1, "doc", "economy"));
    expect(clock.now - before).toBeLessThan(200);
  });
});
