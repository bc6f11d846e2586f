import { setMaxListeners } from "node:events";
import { connect } from "node:tls";
import { type RetryError, StopError } from "../errors.js";
import { type ConnectionOptions, openConnections, type ServiceOptions } from "./connections.js";
import { type ExchangeOptions, exchangeWith } from "./exchange.js";
import { firstContact } from "./first-contact.js";
import { type Attempt, type KnowledgeApi, knowledgeApi, type Scheduler } from "./knowledge-api.js";
import { limitRequests, waitForPace } from "./limit-requests.js";
import { OutageGate } from "./outage-gate.js";
import { Pace } from "./pace.js";
import { throttleOf } from "./refused-answer.js";
import { counted, countRetry, RequestCounts } from "./request-counts.js";
import { type Answer, pause, type Request, retrying, type Send, targetOf } from "./retry.js";

export interface ClientOptions extends ServiceOptions, Partial<Pick<HttpOptions, "caFile" | "env">> {
  /** Maximum concurrent requests; default: 8. */
  readonly concurrency?: number;
  /** Maximum requests per second, or a function if it changes; default: unlimited. */
  readonly maxRps?: number | (() => number) | undefined;
  /** Maximum seconds for one request; default: 60. */
  readonly timeout?: number;
  /**
   * Seconds to wait for the first byte of an answer, until the service has given a good one; default: 10. Two such timeouts
   * end the run.
   */
  readonly silence?: number;
  /** Retries per request; default: 6. */
  readonly retries?: number;
  /** Maximum bytes of one body; default: 64 MB. */
  readonly maxBody?: number;
  /** Called when all requests pause after a refusal, with the length of the pause in milliseconds. */
  readonly onPause?: ((milliseconds: number) => void) | undefined;
  /** Aborting it ends every request and every wait. */
  readonly signal?: AbortSignal;
  readonly progress?: RequestCounts;
  /** Whether an outage fails single requests instead of the whole run; default: false. */
  readonly patient?: boolean;
  /** Seconds that the service may be down during a run; default: 300. */
  readonly outage?: number;
  /** Reports that the service went down or came back. */
  readonly say?: (text: string) => void;
  /**
   * Called before a retry with the failure and the milliseconds to wait. Not called during an outage, or after a refusal that may
   * be random.
   */
  readonly onRetry?: (reason: string, wait: number) => void;
  /** Called for every answer, with the milliseconds from getting a slot to its last byte. */
  readonly onAnswer?: OnAnswer | undefined;
  /** Network, time and randomness; default: the real ones. */
  readonly environment?: Partial<Environment>;
}

export type OnAnswer = (request: Request, answer: Answer, milliseconds: number) => void;

/** The network, time and randomness. A simulation replaces them, so that no real time passes. */
export interface Environment {
  readonly openHttp: (options: HttpOptions) => Pick<Http, "send" | "close"> & Partial<Http>;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  /** A number from 0 up to 1. */
  readonly random: () => number;
  readonly turn: Scheduler;
}

/**
 * The read operations over connections of their own. All lanes of a client share its pace and its counts, and wait together
 * during an outage.
 */
export interface Lane extends KnowledgeApi {
  /** Aborted when all requests end. */
  readonly signal: AbortSignal;
  /** Closes all connections. Current and later requests reject. */
  readonly close: () => Promise<void>;
}

export interface Client extends Lane {
  /** The pace of all requests to the service. Pass it to a writer for the same service. */
  readonly pace: Pace;
  /** Waits until the pace allows a request that does not go through this client, such as a download. */
  readonly turn: () => Promise<void>;
  /** Pauses all requests for some milliseconds, as the service asked. */
  readonly pause: (milliseconds: number) => void;
  readonly openLane: (options: LaneOptions) => Lane;
  /** Closes all open connections. The next request opens new ones. */
  readonly closeConnections: () => Promise<void>;
  /** Rejects every current and later request with this reason. */
  readonly stop: (reason: unknown) => void;
}

interface LaneOptions {
  /** Maximum connections, and concurrent requests. */
  readonly connections: number;
  /** Aborting it ends every request and every wait of the lane. */
  readonly signal: AbortSignal;
  /** Called right before a request is sent. It may throw. */
  readonly beforeSending?: () => void;
}

/** Opens the service for reading. Retries wrap the pace, and the pace wraps HTTP, so a request holds no slot while it waits for a retry. */
export function openClient(options: ClientOptions): Client {
  const { baseUrl, key, keySource, names, patient = false, progress = new RequestCounts() } = options;
  const { concurrency = 8, timeout = 60, silence = 10, retries: mostRetries = 6, environment = {} } = options;
  const { openHttp: open = openHttp, turn = sliceScheduler(), random = Math.random } = environment;
  const { now = () => performance.now(), sleep = pause } = environment;
  const service = { baseUrl, key, keySource, names };
  const stopped = new AbortController();
  const stop = (reason: unknown) => stopped.abort(reason);
  const signal = options.signal ? AbortSignal.any([options.signal, stopped.signal]) : stopped.signal;
  setMaxListeners(0, signal); // every running request listens
  const contact = { isMet: false };
  const outageGate = patient
    ? undefined
    : new OutageGate({
        ...service,
        concurrency,
        patience: (options.outage ?? 300) * 1_000,
        now,
        sleep: (milliseconds) => sleep(milliseconds, signal),
        say: options.say ?? (() => {}),
      });
  signal.addEventListener("abort", () => outageGate?.end(), { once: true });
  const onRetry = (error: RetryError, wait: number, isScattered: boolean) => {
    countRetry(error, progress);
    if (!isScattered && !outageGate?.isAbsence(error)) options.onRetry?.(error.message, wait);
  };
  const waitForService = async (error: unknown) => {
    const hasWaited = (await outageGate?.waitForService(error)) ?? false;
    if (hasWaited) countRetry(error, progress);
    return hasWaited;
  };
  const pace = new Pace(options.maxRps);
  const isPaused = () => pace.pauseLeft(now()) > 0;

  const openLaneFor = ({ connections, signal, beforeSending = () => {} }: LaneOptions) => {
    const http = open({
      ...{ ...service, connections, timeout, signal, caFile: options.caFile, env: options.env ?? process.env },
      silence: () => (contact.isMet || patient ? undefined : Math.min(silence, timeout)),
      maxBody: options.maxBody ?? 64_000_000,
      onBytes: (bytes) => {
        progress.bytes += bytes;
      },
    });
    const attempt: Attempt = async (read, most = mostRetries) => {
      const retries = Math.min(most, mostRetries);
      try {
        return await retrying(read, { sleep, random, retries, signal, onRetry, waitForService, isPaused });
      } catch (error) {
        if (progress.inFlight === 0) progress.silentSince = undefined; // no request is waiting any more
        const reason = outageGate?.neverAnswered(error) ?? error;
        if (reason instanceof StopError) stop(reason);
        signal.throwIfAborted(); // all requests reject with the same reason
        throw reason;
      }
    };
    const sendOnce: Send = async (request) => {
      beforeSending();
      const sentAt = performance.now();
      const answer = await http.send(request);
      options.onAnswer?.(request, answer, performance.now() - sentAt);
      return answer;
    };
    // firstContact is inside the limit, so that `stop` takes effect before the next request gets this slot.
    const contacting = { ...service, signal, contact, patient, stop, speaksTls: http.speaksTls };
    const judgedSend = firstContact(counted(sendOnce, progress, signal), contacting);
    const send = limitRequests(outageGate?.guard(judgedSend) ?? judgedSend, {
      ...{ concurrency: connections, pace, signal, now, sleep, onPause: options.onPause },
      refusal: (answer) => {
        const refusal = throttleOf(answer);
        if (refusal) progress.throttled++;
        return refusal;
      },
    });
    return { http, api: knowledgeApi(send, attempt, turn, service) };
  };

  const { http, api } = openLaneFor({ connections: concurrency, signal });
  return {
    ...api,
    pace,
    turn: () => waitForPace(pace, { now, sleep, signal }),
    pause: (milliseconds) => void pace.refused(now(), now(), milliseconds),
    openLane: (lane) => {
      const ends = new AbortController(); // AbortSignal.any and its listeners would stay in memory until the client closes
      setMaxListeners(0, ends.signal);
      const sources = [signal, lane.signal];
      const end = () => ends.abort(sources.find(({ aborted }) => aborted)?.reason);
      for (const source of sources) source.addEventListener("abort", end, { once: true });
      if (sources.some(({ aborted }) => aborted)) end();
      const { http, api } = openLaneFor({ ...lane, signal: ends.signal });
      const close = () => {
        for (const source of sources) source.removeEventListener("abort", end);
        return http.close();
      };
      return { ...api, signal: ends.signal, close };
    },
    closeConnections: async () => http.closeConnections?.(),
    signal,
    stop,
    close: () => {
      stop(new StopError("the client is closed"));
      return http.close();
    },
  };
}

/** Maximum bytes of bodies to process in one turn of the event loop. A larger body gets its own turn. */
const bytesPerSlice = 65_536;

/**
 * Returns a function that processes received bodies in order of arrival, a few per turn of the event loop. Lets all sockets be
 * served first, because a waiting answer occupies a slot until it is read. Skips turns in which another body arrived: undici
 * sends the connection's next request in the following turn, and the work would delay it.
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

export interface HttpOptions extends ExchangeOptions, Omit<ConnectionOptions, "timeout"> {}

interface Http {
  readonly send: Send;
  /** Closes the connections until the next request. */
  readonly closeConnections: () => Promise<void>;
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
  const timeout = Math.min(options.timeout, 10) * 1000;
  const openPool = () => openConnections(base, { ...options, timeout });
  let pool = openPool();
  const exchange = exchangeWith(options);
  let isTls: Promise<boolean> | undefined;
  return {
    send: (request) => exchange({ method: "GET", target: targetOf(request) }, pool),
    closeConnections: async () => {
      const { dispatcher } = pool;
      pool = openPool();
      await dispatcher.close();
    },
    close: () => pool.dispatcher.destroy(),
    speaksTls: async () => {
      isTls ??= base.protocol === "http:" && !pool.proxy() ? speaksTls(base) : Promise.resolve(false);
      return isTls;
    },
  };
}

/** Whether this address speaks TLS. Only the handshake is sent, so the certificate does not matter. */
function speaksTls({ hostname, port }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const host = hostname.replace(/^\[|\]$/g, "");
    const socket = connect({ host, port: Number(port || 80), rejectUnauthorized: false });
    const end = (isSpoken: boolean) => {
      resolve(isSpoken);
      socket.destroy();
    };
    socket.setTimeout(1_000, () => end(false));
    socket.on("secureConnect", () => end(true)).on("error", () => end(false));
    socket.on("close", () => resolve(false));
  });
}
