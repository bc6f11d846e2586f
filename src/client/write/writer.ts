import { createHash } from "node:crypto";
import { jsonText } from "../../rows/exact-json.js";
import { throttleOf } from "../check-answer.js";
import { openConnections } from "../connections.js";
import { exchangeWith, type Outgoing } from "../exchange.js";
import { jobFileNames, type SettingNames } from "../failed-request.js";
import { Pace } from "../pace.js";
import { pause, waitForPace } from "../paced.js";
import { counted, emptyRequestCounts, type RequestCounts } from "../request-counts.js";
import type { Answer } from "../send.js";
import { type Prepare, type SendHooks, type WriteOperations, writeOperations } from "./operations.js";
import {
  outcomeOfAnswer,
  outcomeOfError,
  type ReadAnswer,
  sendForm,
  type Undone,
  type WriteOutcome,
} from "./write-outcome.js";

export interface WriterOptions {
  /** Ends in the version segment, as in `https://kb.example.com/v1`. */
  readonly baseUrl: string;
  /** The API key; it is sent in the Authorization header and appears nowhere else. */
  readonly key: string;
  /** The place that the key came from, for messages. */
  readonly keySource?: string | undefined;
  /** The names of settings in messages; those of the job file by default. */
  readonly names?: SettingNames | undefined;
  /** Connections held open at the most: as many as documents are written at once. */
  readonly concurrency: number;
  /** The pace that the client of the same service keeps to, so that both together keep to it; unbounded by default. */
  readonly pace?: Pace;
  /** Seconds for one write, in which the service embeds what it takes; 300 by default. */
  readonly timeout?: number;
  /** Bytes of one answer at the most; 64 MB by default. */
  readonly maxBody?: number;
  /** Names the proxies. */
  readonly env?: NodeJS.ProcessEnv;
  /** Sends nothing more once it is aborted. A write under way has `grace` milliseconds left to be answered. */
  readonly signal?: AbortSignal;
  /** 10 s by default. */
  readonly grace?: number;
  readonly progress?: RequestCounts;
  /** Milliseconds on a clock that only goes forward; that of the pace. */
  readonly now?: () => number;
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/** The write operations. Nothing else in this program sends anything but GET. */
export interface Writer extends WriteOperations {
  /** Ends every connection. */
  readonly close: () => Promise<void>;
}

/** Sends of one write while the service refuses because too much is asked. */
const throttledTries = 12;
/**
 * Milliseconds from the call of `onTurn` to the first byte that count as usual: twice as many as the last request took, within these
 * bounds. If it takes longer, this process may have been frozen, and another one may have taken its place.
 */
const [shortestStart, longestStart] = [1_000, 10_000];
/** Requests in a row that take longer to begin. */
const startTries = 4;

/** Opens connections of its own to the service. A write is sent once, and again only where the service refused to look at it. */
export function openWriter(options: WriterOptions): Writer {
  const { baseUrl, key, keySource, concurrency, env = {}, progress = emptyRequestCounts() } = options;
  const { timeout = 300, maxBody = 64_000_000, pace = new Pace(), now = () => performance.now() } = options;
  const { signal = new AbortController().signal, sleep = pause, names = jobFileNames } = options;
  const onBytes = (bytes: number) => {
    progress.bytes += bytes;
  };
  const late = lateSignal(signal, options.grace ?? 10_000);
  const exchange = exchangeWith({ baseUrl, key, timeout, maxBody, signal: late, onBytes, names });
  const connections = openConnections(new URL(baseUrl), {
    connections: concurrency,
    timeout: 20_000,
    env,
    names,
  });

  const exchangeOnce = async (outgoing: Outgoing): Promise<Answer | Undone> => {
    const once = counted(() => exchange(outgoing, connections), progress, late);
    try {
      return await once({ path: outgoing.target, query: [] });
    } catch (error) {
      return outcomeOfError(error, late.aborted);
    }
  };
  let usual = shortestStart;
  /** Sends it once `onTurn` agrees. A request that begins later than usual is asked about again, before a byte has left. */
  const exchangeChecked = async (outgoing: Outgoing, beforeSend: SendHooks["beforeSend"]): Promise<Answer | Undone> => {
    if (!beforeSend) return exchangeOnce(outgoing);
    for (let tries = 1; ; tries++) {
      const elapsed = stopwatch();
      let delay: number | undefined;
      await beforeSend();
      signal.throwIfAborted();
      const onStart = () => {
        const took = elapsed();
        if (took > usual) delay = took;
        usual = Math.min(longestStart, Math.max(shortestStart, 2 * took));
        if (delay !== undefined) throw new Error(`it took ${delay / 1000} s to connect`);
      };
      const answer = await exchangeOnce({ ...outgoing, onStart });
      if (delay === undefined) return answer;
      if (tries === startTries)
        return { kind: "unsent", reason: `${outgoing.target}: it took ${delay / 1000} s to connect` };
    }
  };
  const send = async <T>(
    outgoing: Outgoing,
    read: ReadAnswer<T>,
    { beforeSend, onAnswer }: SendHooks = {},
  ): Promise<WriteOutcome<T>> => {
    for (let tries = 1; ; tries++) {
      await waitForPace(pace, { signal, now, sleep });
      signal.throwIfAborted(); // the pace may let it go at once
      const sentAt = now();
      const answer = await exchangeChecked(outgoing, beforeSend);
      if ("kind" in answer) return answer;
      onAnswer?.(now() - sentAt);
      const throttle = answer.status < 500 ? throttleOf(answer) : undefined;
      if (!throttle) pace.accepted(sentAt, now());
      else pace.refused(sentAt, now(), throttle.retryAfter);
      if (!throttle || tries === throttledTries) {
        return outcomeOfAnswer(answer, { method: outgoing.method, read, key, keySource, names });
      }
      progress.throttled++;
    }
  };
  const prepare: Prepare = (method, path, body, read) => {
    const outgoing = { method, target: path };
    if (body === "none") {
      return { method, path, sha256: sha256Of(""), send: (hooks) => send(outgoing, read, hooks) };
    }
    if ("json" in body) {
      const text = jsonText(body.json);
      return { method, path, sha256: sha256Of(text), send: (hooks) => send({ ...outgoing, body: text }, read, hooks) };
    }
    const { data = null, file } = body.form;
    const sha256 = sha256Of(jsonText([data, file.name]));
    const sendAll = (hooks?: SendHooks) =>
      sendForm(body.form, (form) => send({ ...outgoing, body: form }, read, hooks));
    return { method, path, sha256, send: sendAll };
  };
  return { ...writeOperations(prepare), close: () => connections.dispatcher.destroy() };
}

function sha256Of(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Milliseconds since now. The monotonic clock stops while the machine sleeps; the wall clock can be changed. */
function stopwatch(): () => number {
  const [ticks, time] = [performance.now(), Date.now()];
  return () => Math.max(performance.now() - ticks, Date.now() - time);
}

/** Aborted so many milliseconds after the signal, for the same reason: a write that is cut off may have been done. */
function lateSignal(signal: AbortSignal, grace: number): AbortSignal {
  const late = new AbortController();
  const end = () => void setTimeout(() => late.abort(signal.reason), grace).unref();
  signal.addEventListener("abort", end, { once: true });
  return late.signal;
}
