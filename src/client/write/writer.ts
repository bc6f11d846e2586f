import { createHash } from "node:crypto";
import { jsonText } from "../../rows/exact-json.js";
import { openConnections, type ServiceOptions } from "../connections.js";
import { exchangeWith, type Outgoing } from "../exchange.js";
import { type WaitOptions, waitForPace } from "../limit-requests.js";
import { Pace } from "../pace.js";
import { throttleOf } from "../refused-answer.js";
import { type Answer, pause } from "../retry.js";
import { type Prepare, type SendHooks, type WriteOperations, writeOperations } from "./operations.js";
import {
  outcomeOfAnswer,
  outcomeOfError,
  type ReadAnswer,
  sendFile,
  type Undone,
  type WriteOutcome,
} from "./write-outcome.js";

export interface WriterOptions extends ServiceOptions, Partial<WaitOptions> {
  /** Maximum open connections: the number of documents written at once. */
  readonly concurrency: number;
  /** The pace shared with the client of the same service; default: unlimited. */
  readonly pace?: Pace;
  /** Seconds for one write, including the service's embedding; default: 300. */
  readonly timeout?: number;
  /** Maximum bytes of one answer; default: 64 MB. */
  readonly maxBody?: number;
  /** The environment variables that set proxies. */
  readonly env?: NodeJS.ProcessEnv;
  /** Milliseconds that a running write has once the signal is aborted; default: 10 s. */
  readonly grace?: number;
}

/** The write operations. All other requests to the service are GET. */
export interface Writer extends WriteOperations {
  /** Closes all connections. */
  readonly close: () => Promise<void>;
}

/** How often to send a write that the service refuses because there are too many requests. */
const throttledTries = 12;
/**
 * A request that takes too long between `beforeSend` and its first byte asks `beforeSend` again: this process may have been
 * frozen, and another one may have taken over. Too long is more than twice the time of the last request, but that limit stays
 * between these two, in milliseconds.
 */
const [shortestStart, longestStart] = [1_000, 10_000];
/** How often to try a request that takes too long to start. */
const startTries = 4;

/** Opens its own connections to the service. A write is sent once, and repeated only if the service refused to process it. */
export function openWriter(options: WriterOptions): Writer {
  const { timeout = 300, maxBody = 64_000_000, pace = new Pace(), now = () => performance.now() } = options;
  const { signal = new AbortController().signal, sleep = pause, grace = 10_000 } = options;
  const { concurrency, env = {}, ...service } = options;
  const late = lateSignal(signal, grace);
  const connecting = { connections: concurrency, timeout: 20_000, env, names: service.names };
  const connections = openConnections(new URL(service.baseUrl), connecting);
  const exchange = exchangeWith({ ...service, timeout, maxBody, signal: late, onBytes: () => {} });

  const exchangeOnce = (outgoing: Outgoing): Promise<Answer | Undone> =>
    exchange(outgoing, connections).catch((error: unknown) => outcomeOfError(error, late.aborted));
  let usual = shortestStart;
  /** Sends after `beforeSend` agrees. If the request takes too long to start, asks `beforeSend` again before a byte is sent. */
  const exchangeChecked = async (outgoing: Outgoing, beforeSend: SendHooks["beforeSend"]): Promise<Answer | Undone> => {
    if (!beforeSend) return exchangeOnce(outgoing);
    for (let tries = 1; ; tries++) {
      const elapsed = stopwatch();
      let delay: string | undefined;
      await beforeSend();
      signal.throwIfAborted();
      const onStart = () => {
        const took = elapsed();
        if (took > usual) delay = `it took ${took / 1000} s to connect`;
        usual = Math.min(longestStart, Math.max(shortestStart, 2 * took));
        if (delay) throw new Error(delay);
      };
      const answer = await exchangeOnce({ ...outgoing, onStart });
      if (!delay) return answer;
      if (tries === startTries) return { kind: "unsent", reason: `${outgoing.target}: ${delay}` };
    }
  };
  const send = async <T>(
    outgoing: Outgoing,
    read: ReadAnswer<T>,
    { beforeSend, onAnswer }: SendHooks = {},
  ): Promise<WriteOutcome<T>> => {
    for (let tries = 1; ; tries++) {
      await waitForPace(pace, { signal, now, sleep });
      signal.throwIfAborted(); // the pace may resolve without waiting
      const sentAt = now();
      const answer = await exchangeChecked(outgoing, beforeSend);
      if ("kind" in answer) return answer;
      onAnswer?.(now() - sentAt);
      const throttle = answer.status < 500 ? throttleOf(answer) : undefined;
      if (!throttle) pace.accepted(sentAt, now());
      else pace.refused(sentAt, now(), throttle.retryAfter);
      if (!throttle || tries === throttledTries)
        return outcomeOfAnswer(answer, { ...service, method: outgoing.method, read });
    }
  };
  const prepare: Prepare = (method, path, body, read) => {
    const sendBody = (sent: Outgoing["body"], hooks?: SendHooks) =>
      send({ method, target: path, body: sent }, read, hooks);
    if ("file" in body) {
      const sha256 = sha256Of(jsonText([body.file.name]));
      return { method, path, sha256, send: (hooks) => sendFile(body.file, (form) => sendBody(form, hooks)) };
    }
    const text = body.json && jsonText(body.json);
    return { method, path, sha256: sha256Of(text ?? ""), send: (hooks) => sendBody(text, hooks) };
  };
  return { ...writeOperations(prepare), close: () => connections.dispatcher.destroy() };
}

function sha256Of(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/**
 * Returns a function that says how many milliseconds ago the stopwatch was started. Uses two clocks: the monotonic one stops
 * while the machine sleeps, and the wall clock can be changed.
 */
function stopwatch(): () => number {
  const [ticks, time] = [performance.now(), Date.now()];
  return () => Math.max(performance.now() - ticks, Date.now() - time);
}

/**
 * Returns a signal that aborts `grace` milliseconds after `signal`, with the same reason. So running writes can finish: a
 * write that is cut off may still have been done.
 */
function lateSignal(signal: AbortSignal, grace: number): AbortSignal {
  const late = new AbortController();
  const end = () => void setTimeout(() => late.abort(signal.reason), grace).unref();
  signal.addEventListener("abort", end, { once: true });
  return late.signal;
}
