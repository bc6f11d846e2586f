import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, errorAnswer, faultyAnswer } from "./answer.js";
import type { Behaviour, RequestRecord } from "./behaviour.js";
import { type Random, randomFrom } from "./random.js";
import { RateWindow, refusalAnswer } from "./rate-limit.js";
import { RequestLog } from "./request-log.js";
import { isChunkList, rightAnswer } from "./routes.js";
import { encodingFor, type Payload, payloadOf, sendPayload } from "./send.js";
import { sendSpoiled } from "./spoil.js";
import type { Store } from "./store.js";

/** The only key that the server accepts. */
export const testKey = "dataset-KeyOfTheRealisticServer";

export interface RealisticServer {
  /** The base URL, which ends in `/v1`. */
  readonly url: string;
  readonly key: string;
  /** Requests since the start or the last reset, in order of arrival. */
  readonly requests: readonly RequestRecord[];
  /** The maximum number of concurrent requests. */
  readonly maxInFlight: number;
  /** The maximum number of open connections. */
  readonly maxConnections: number;
  /** The current behaviour. Tests may change it between and during requests. */
  readonly behaviour: Behaviour;
  /** Clears requests, counts, cached bodies and rate windows, and restarts the random numbers. */
  reset(): void;
  /** Stops the server immediately, and aborts open requests. */
  close(): Promise<void>;
}

interface State {
  readonly store: Store;
  readonly behaviour: Behaviour;
  readonly log: RequestLog;
  readonly rate: RateWindow;
  readonly batchReads: Map<string, number>;
  readonly kept: Map<string, Payload>;
  random: Random;
}

function answerTo(state: State, request: RequestRecord, page?: string): Answer {
  const { store, behaviour, random, batchReads } = state;
  const query = new URLSearchParams(request.query);
  if (page !== undefined) query.set("page", page);
  const authorized = request.headers.authorization === `Bearer ${testKey}`;
  return rightAnswer({ store, behaviour, random, batchReads, path: request.path, query }, authorized);
}

function rightPayload(state: State, request: RequestRecord, encoding: string | undefined): Payload {
  const { behaviour, kept } = state;
  const isCached = behaviour.cache === true && request.headers["cache-control"] !== "no-cache";
  const keep = isCached || (behaviour.cacheBodies === true && isChunkList(request.path));
  const name = `${encoding} ${request.headers.authorization} ${request.path}?${request.query}`;
  const old = keep ? kept.get(name) : undefined;
  if (old) return old;
  const payload = payloadOf(answerTo(state, request), behaviour, encoding);
  if (keep && payload.status === 200) kept.set(name, payload);
  return payload;
}

function answerGet(state: State, request: RequestRecord, response: ServerResponse): void {
  const { behaviour } = state;
  const { chunked = false } = behaviour;
  const encoding = encodingFor(request.headers["accept-encoding"] ?? "", behaviour);
  const fault = behaviour.faults?.(request, request.nth);
  if (!fault) {
    sendPayload(response, rightPayload(state, request, encoding), chunked);
    return;
  }
  request.fault = fault.kind;
  const [right, pageOne] = [() => answerTo(state, request), () => answerTo(state, request, "1")];
  const payload = () => payloadOf(faultyAnswer(fault, right, pageOne), behaviour, encoding);
  const plain = () => payloadOf(faultyAnswer(fault, right, pageOne), behaviour);
  sendSpoiled(fault, response, { payload, plain, chunked });
}

async function answer(state: State, record: RequestRecord, response: ServerResponse): Promise<void> {
  const { store, behaviour } = state;
  const { latency = 0 } = behaviour;
  const delay = typeof latency === "number" ? latency : latency(record);
  if (delay > 0) await sleep(delay, undefined, { ref: false });
  behaviour.onRequest?.(record, store);
  if (record.method === "GET") {
    answerGet(state, record, response);
    return;
  }
  const refused = errorAnswer(405, "method_not_allowed", "The method is not allowed for the requested URL.");
  sendPayload(response, payloadOf({ ...refused, headers: { allow: "GET" } }, behaviour));
}

async function handle(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { behaviour, log, rate } = state;
  const now = performance.timeOrigin + performance.now();
  const { rateLimit } = behaviour;
  const wait = rateLimit ? rate.arrive(rateLimit, now) : 0;
  const record = await log.arrive(request, response);
  if (rateLimit && wait > 0) sendPayload(response, payloadOf(refusalAnswer(rateLimit, wait, now), behaviour));
  else await answer(state, record, response);
  if (response.headersSent) record.status = response.statusCode;
}

/** Answers 599 with the stack, so that an error in a test's hook does not look like a fault of the service. */
function sendMistake(response: ServerResponse, mistake: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(599, "Mistake in the test server", { "content-type": "text/plain" });
  response.end(String(mistake instanceof Error ? mistake.stack : mistake));
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Starts a server for the store on a free port of 127.0.0.1, or on `port`. */
export async function startRealisticServer(
  store: Store,
  behaviour: Behaviour = {},
  port = 0,
): Promise<RealisticServer> {
  const fresh = () => randomFrom(behaviour.seed ?? 1);
  const [log, rate, batchReads, kept] = [new RequestLog(), new RateWindow(), new Map(), new Map()];
  const state: State = { store, behaviour, log, rate, batchReads, kept, random: fresh() };
  const server = createServer({ keepAliveTimeout: 60_000, requestTimeout: 0 }, (request, response) => {
    handle(state, request, response).catch((mistake: unknown) => sendMistake(response, mistake));
  });
  const connections = { open: 0, most: 0 };
  server.on("connection", async (socket) => {
    await turns(2); // a connection closed earlier may be noticed only later
    if (socket.destroyed) return;
    connections.most = Math.max(connections.most, ++connections.open);
    socket.once("close", () => connections.open--);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    key: testKey,
    requests: log.records,
    get maxInFlight() {
      return log.maxInFlight;
    },
    get maxConnections() {
      return connections.most;
    },
    behaviour,
    reset() {
      for (const part of [log, rate, batchReads, kept]) part.clear();
      connections.most = connections.open;
      state.random = fresh();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
