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
  /** Ends in the version segment, for example `https://kb.example.com/v1`. */
  readonly baseUrl: string;
  /** The API key. It is sent only in the Authorization header and shown nowhere. */
  readonly key: string;
  /** Where the key came from, for messages: `the variable KNOWLEDGE_API_KEY`. */
  readonly keySource?: string;
  /** Setting names to use in messages; default: those of the job file. */
  readonly names?: SettingNames | undefined;
  /** Maximum concurrent requests; default: 8. */
  readonly concurrency?: number;
  /** Maximum requests per second; default: unlimited. */
  readonly maxRps?: number | undefined;
  /** Seconds for one request; default: 60. */
  readonly timeout?: number;
  /** Seconds to wait for the first byte, until the first good answer; default: 10. Two such timeouts end the run. */
  readonly silence?: number;
  /** Retries per request; default: 6. */
  readonly retries?: number;
  /** Maximum bytes of one body; default: 64 MB. */
  readonly maxBody?: number;
  /** PEM file of certificates to trust in addition to the usual ones. */
  readonly caFile?: string | undefined;
  /** Source of HTTP_PROXY, HTTPS_PROXY and NO_PROXY; default: the environment of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** The limits shared by all processes that read the service. They replace `maxRps`. */
  readonly shared?: SharedBounds | undefined;
  /** Ends every request and every wait. */
  readonly signal?: AbortSignal;
  readonly progress?: RequestCounts;
  /** Whether to give up requests one by one, no matter how long the service is down; default: false. */
  readonly patient?: boolean;
  /** Seconds that the service may be down during a run; default: 300. */
  readonly outage?: number;
  /** Reports that the service went down or came back. */
  readonly say?: (text: string) => void;
  /** Called for every retry outside of an outage, with the failure and the milliseconds until the next try. */
  readonly onRetry?: (reason: string, wait: number) => void;
  /** Called for every answer, with its milliseconds from getting a slot to the last byte. */
  readonly onAnswer?: OnAnswer | undefined;
  /** Network, time and randomness; default: the real ones. */
  readonly environment?: Partial<Environment>;
}

export type OnAnswer = (request: Request, answer: Answer, milliseconds: number) => void;

/** Everything outside of the client. A simulation replaces it, so that no real time passes. */
export interface Environment {
  readonly openHttp: (options: HttpOptions) => Pick<Http, "send" | "close"> & Partial<Http>;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  /** A number from 0 up to 1. */
  readonly random: () => number;
  readonly turn: Scheduler;
}

export interface Client extends KnowledgeApi {
  /** The pace of all requests to the service. A writer to the same service uses it too. */
  readonly pace: Pace;
  /** Resolves when the pace allows a request outside of this interface. */
  readonly turn: () => Promise<void>;
  /** Aborted when all requests end. */
  readonly signal: AbortSignal;
  /** Rejects every current and later request with this reason. */
  readonly stop: (reason: unknown) => void;
  /** Closes all connections. Current and later requests reject. */
  readonly close: () => Promise<void>;
}

/** Opens the service for reading. HTTP is wrapped by the pace, and that by the retries, so that waiting for a retry holds no slot. */
export function openClient(options: ClientOptions): Client {
  const { progress = emptyRequestCounts(), concurrency = 8, retries: mostRetries = 6, environment = {} } = options;
  const { names = jobFileNames, shared } = options;
  const { openHttp: open = openHttp, turn = sliceScheduler(), ...time } = environment;
  const stopped = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stopped.signal]) : stopped.signal;
  setMaxListeners(0, signal); // every running request listens
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
      signal.throwIfAborted(); // the same reason for all
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
    stop: (reason) => stopped.abort(reason), // before the slot is handed on
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

/** Bytes of bodies to process in one turn of the event loop. A larger body gets a turn of its own. */
const bytesPerSlice = 65_536;

/**
 * Processes bodies a few per turn of the event loop, in order of arrival, after all sockets were served: a waiting answer occupies
 * a slot until it is read. Skips turns in which another body arrived, because undici sends the connection's next request in the
 * following turn, and the work would delay it.
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
  /** Maximum open connections. */
  readonly connections: number;
  /** PEM file of certificates to trust in addition to the usual ones. */
  readonly caFile: string | undefined;
  /** Source of proxy settings; absent: no proxy. */
  readonly env?: NodeJS.ProcessEnv;
}

interface Http {
  readonly send: Send;
  readonly close: () => Promise<void>;
  /** Whether the host speaks TLS although the base URL says http. */
  readonly speaksTls: () => Promise<boolean>;
}

/**
 * Opens the connection pool. It sends GET only, follows no redirects, and always checks certificates. Throws UsageError for an
 * invalid proxy.
 */
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

/** Timeout of the handshake in milliseconds. */
const longest = 1_000;

/** Whether this address speaks TLS. Only the handshake is sent, so the certificate does not matter. */
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
