import { setMaxListeners } from "node:events";
import { connect } from "node:tls";
import { RetryError, StopError } from "../errors.js";
import { errorFromAnswer, throttleOf } from "./check-answer.js";
import { openConnections } from "./connections.js";
import { type ExchangeOptions, exchangeWith } from "./exchange.js";
import { jobFileNames, type SettingNames } from "./failed-request.js";
import { firstContact } from "./first-contact.js";
import { InFlightBound } from "./in-flight.js";
import { type Attempt, type KnowledgeApi, knowledgeApi, type Scheduler } from "./knowledge-api.js";
import { neverAnswered, OutageGate } from "./outage-gate.js";
import { Pace } from "./pace.js";
import { paced, pause, type SharedBounds, waitForPace, waitForSlot } from "./paced.js";
import { counted, countRetry, countThrottled, emptyRequestCounts, type RequestCounts } from "./request-counts.js";
import { type Answer, type Request, retrying, type Send, targetOf } from "./send.js";

export interface ClientOptions {
  /** Ends in the version segment, as in `https://kb.example.com/v1`. */
  readonly baseUrl: string;
  /** The API key; it is sent in the Authorization header and appears nowhere else. */
  readonly key: string;
  /** The place that the key came from, for messages: `the variable KNOWLEDGE_API_KEY`. */
  readonly keySource?: string;
  /** The names of settings in messages; those of the job file by default. */
  readonly names?: SettingNames | undefined;
  /** Requests in flight at the most; 8 by default. */
  readonly concurrency?: number;
  /** Requests a second at the most; unbounded by default. */
  readonly maxRps?: number | undefined;
  /** Seconds for one request; 60 by default. */
  readonly timeout?: number;
  /** Seconds without a byte of an answer, until the first good answer; 10 by default. Two tries that end so end the run. */
  readonly silence?: number;
  /** Tries after the first; 6 by default. */
  readonly retries?: number;
  /** Bytes of one body at the most; 64 MB by default. */
  readonly maxBody?: number;
  /** PEM file of certificates trusted beside the usual ones. */
  readonly caFile?: string | undefined;
  /** Names the proxies: HTTP_PROXY, HTTPS_PROXY, NO_PROXY; that of the process by default. */
  readonly env?: NodeJS.ProcessEnv;
  /** The bounds of all processes that read the service; `maxRps` is theirs then, and not that of the client. */
  readonly shared?: SharedBounds | undefined;
  /** Ends every request and every wait. */
  readonly signal?: AbortSignal;
  readonly progress?: RequestCounts;
  /** Whether requests are given up one by one, however long the service is gone; false by default. */
  readonly patient?: boolean;
  /** Seconds for which a service may be gone in the middle of a run; 300 by default. */
  readonly outage?: number;
  /** Reports what became of the service: that it is gone, that it is back. */
  readonly say?: (text: string) => void;
  /** Called with every retry but those of an outage: what failed, and the milliseconds until the next try. */
  readonly onRetry?: (reason: string, wait: number) => void;
  /** Shown every answer, whatever its status, and the milliseconds that it took from its slot to the last byte. */
  readonly onAnswer?: OnAnswer | undefined;
  /** The network, time and chance; the real ones by default. */
  readonly environment?: Partial<Environment>;
}

export type OnAnswer = (request: Request, answer: Answer, milliseconds: number) => void;

/** Everything outside of the client that it meets: a simulation gives its own, in which no real time passes. */
export interface Environment {
  readonly openHttp: (options: HttpOptions) => Pick<Http, "send" | "close"> & Partial<Http>;
  /** Milliseconds on a clock that only goes forward. */
  readonly now: () => number;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  /** A number from 0 up to 1. */
  readonly random: () => number;
  readonly turn: Scheduler;
}

export interface Client extends KnowledgeApi {
  /** The pace of all requests to the service; a writer beside the client keeps to it, too. */
  readonly pace: Pace;
  /** Resolves when the pace allows one more request beside those of the interface. */
  readonly turn: () => Promise<void>;
  /** Aborted when every request ends. */
  readonly signal: AbortSignal;
  /** Lets every request under way, and every later one, reject with this reason. */
  readonly stop: (reason: unknown) => void;
  /** Ends every connection; every request under way, and every later one, rejects. */
  readonly close: () => Promise<void>;
}

/** The knowledge service as the crawl sees it: HTTP, around it the pace, around that the retry, whose waits hold no slot. */
export function openClient(options: ClientOptions): Client {
  const { progress = emptyRequestCounts(), concurrency = 8, retries: mostRetries = 6, environment = {} } = options;
  const { names = jobFileNames, shared } = options;
  const { openHttp: open = openHttp, turn = sliceScheduler(), ...time } = environment;
  const stopped = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stopped.signal]) : stopped.signal;
  setMaxListeners(0, signal); // every request under way listens
  const { timeout = 60, silence = 10 } = options;
  const contact = { isMet: false };
  const http = open({
    baseUrl: options.baseUrl,
    key: options.key,
    connections: concurrency,
    timeout,
    silence: () => (contact.isMet || options.patient ? undefined : Math.min(silence, timeout)),
    maxBody: options.maxBody ?? 64_000_000,
    caFile: options.caFile,
    env: options.env ?? process.env,
    signal,
    names,
    onBytes: (bytes) => {
      progress.bytes += bytes;
    },
  });
  const outageGate = options.patient ? undefined : outageGateFor(options, { ...time, signal });
  const onRetry = (error: RetryError, wait: number) => {
    countRetry(error, progress);
    if (!outageGate?.isAbsence(error)) options.onRetry?.(error.message, wait);
  };
  const waitForService = async (error: unknown) => {
    const hasWaited = (await outageGate?.waitForService(error)) ?? false;
    if (hasWaited && error instanceof RetryError) countRetry(error, progress);
    return hasWaited;
  };
  const attempt: Attempt = async (read, retries = mostRetries) => {
    try {
      return await retrying(countThrottled(read, progress), {
        ...time,
        retries: Math.min(retries, mostRetries),
        signal,
        onRetry,
        waitForService,
      });
    } catch (error) {
      const gone = options.patient ? undefined : neverAnswered(error, progress, names);
      const reason = gone ?? error;
      if (reason instanceof StopError) stopped.abort(reason);
      signal.throwIfAborted(); // one reason for all
      throw reason;
    }
  };
  const pace = new Pace(shared?.rate ?? options.maxRps);
  const sendOnce: Send = async (request) => {
    const sentAt = performance.now();
    const answer = await http.send(request);
    options.onAnswer?.(request, answer, performance.now() - sentAt);
    return answer;
  };
  const countedSend = firstContact(counted(sendOnce, progress, signal), {
    key: options.key,
    keySource: options.keySource,
    names,
    signal,
    contact,
    patient: options.patient,
    stop: (reason) => stopped.abort(reason), // before anybody has its slot
    speaksTls: http.speaksTls,
  });
  const send = paced(outageGate?.guard(countedSend) ?? countedSend, {
    bound: new InFlightBound(concurrency),
    pace,
    shared,
    signal,
    refusal: throttleOf,
    onAgain: (answer) => {
      progress.throttled++;
      countRetry(errorFromAnswer(answer, options.key), progress);
    },
    ...time,
  });
  const stop = (reason: unknown) => stopped.abort(reason);
  const close = () => {
    stop(new StopError("the client is closed"));
    return http.close();
  };
  const api = knowledgeApi(send, attempt, turn, { key: options.key, names });
  const waitForPaceOutside = async () => {
    if (shared) (await waitForSlot(shared, pace, { ...time, signal })).leave();
    else await waitForPace(pace, { ...time, signal });
  };
  return { ...api, pace, turn: waitForPaceOutside, signal, stop, close };
}

function outageGateFor(
  { outage = 300, concurrency = 8, key, names = jobFileNames, say = () => {} }: ClientOptions,
  { now = () => performance.now(), sleep = pause, signal }: Partial<Environment> & { readonly signal: AbortSignal },
): OutageGate {
  const patience = outage * 1_000;
  const options = { patience, concurrency, key, names, now, sleep: (ms: number) => sleep(ms, signal), say };
  const outageGate = new OutageGate(options);
  signal.addEventListener("abort", () => outageGate.end(), { once: true });
  return outageGate;
}

/** Bytes of bodies that are worked on in one turn of the event loop; one that is larger has a turn of its own. */
const bytesPerSlice = 65_536;

/**
 * Bodies are worked on a few per turn of the event loop, in the order in which they came, and only once all sockets were
 * served: an answer that waits to be read holds its place in flight, and one that is in does not. There is no work in a turn in which another
 * body came: undici sends the next request of a connection in the turn after that, and would wait for the work.
 */
export function sliceScheduler(): Scheduler {
  const waiting: { readonly bytes: number; readonly begin: () => void }[] = [];
  let isNew = false;
  const serve = () => {
    if (isNew) {
      isNew = false;
      setImmediate(serve);
      return;
    }
    for (let bytes = 0, next = waiting.shift(); next; next = waiting.shift()) {
      next.begin();
      bytes += next.bytes;
      if (bytes + (waiting[0]?.bytes ?? 0) > bytesPerSlice) break;
    }
    if (waiting.length > 0) setImmediate(serve);
  };
  return async (bytes, work) => {
    await new Promise<void>((begin) => {
      waiting.push({ bytes, begin });
      isNew = true;
      if (waiting.length === 1) setImmediate(serve);
    });
    return work();
  };
}

export interface HttpOptions extends ExchangeOptions {
  /** Connections held open at the most. */
  readonly connections: number;
  /** PEM file of certificates trusted beside the usual ones. */
  readonly caFile: string | undefined;
  /** Names the proxies; none where it is left out. */
  readonly env?: NodeJS.ProcessEnv;
}

interface Http {
  readonly send: Send;
  readonly close: () => Promise<void>;
  /** Whether TLS is spoken where the base URL says http. */
  readonly speaksTls: () => Promise<boolean>;
}

/** Opens the pool of connections. Only GET is ever sent, redirects are not followed, certificates always checked. UsageError for a proxy that is none. */
export function openHttp(options: HttpOptions): Http {
  const base = new URL(options.baseUrl);
  const { caFile, env = {}, names } = options;
  const timeout = Math.min(options.timeout, 10) * 1000;
  const pool = openConnections(base, { connections: options.connections, timeout, caFile, env, names });
  const exchange = exchangeWith(options);
  const send: Send = (request) => exchange({ method: "GET", target: targetOf(request) }, pool);

  let isTls: Promise<boolean> | undefined;
  const speaksTlsThere = async () => {
    isTls ??= base.protocol === "http:" && !pool.proxy() ? speaksTls(base) : Promise.resolve(false);
    return isTls;
  };
  return { send, close: () => pool.dispatcher.destroy(), speaksTls: speaksTlsThere };
}

/** Milliseconds for the handshake. */
const longest = 1_000;

/** Whether TLS is spoken at this address. Nothing is sent but the handshake, so no certificate has to be checked. */
function speaksTls({ hostname, port }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const host = hostname.replace(/^\[|\]$/g, "");
    const socket = connect({ host, port: Number(port || 80), rejectUnauthorized: false });
    const end = (isSpoken: boolean) => {
      resolve(isSpoken);
      socket.destroy();
    };
    socket.setTimeout(longest, () => end(false));
    socket.on("secureConnect", () => end(true)).on("error", () => end(false));
    socket.on("close", () => resolve(false));
  });
}
