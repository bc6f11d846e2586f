import { createHash } from "node:crypto";
import { jsonText } from "../../rows/exact-json.js";
import { throttleOf } from "../check-answer.js";
import { openConnections } from "../connections.js";
import { counted } from "../counted.js";
import { exchangeWith, type Outgoing } from "../exchange.js";
import { jobFileNames, type SettingNames } from "../hint-for.js";
import { Pace } from "../pace.js";
import { emptyRequestTally, type RequestTally } from "../request-tally.js";
import type { Answer } from "../send.js";
import { pause, turnAt } from "../turn.js";
import { sendForm } from "./multipart.js";
import { type OnAnswer, type Prepare, type WriteOperations, writeOperations } from "./write-operations.js";
import { outcomeOfAnswer, outcomeOfError, type Undone, type WriteOutcome } from "./write-outcome.js";
import type { ReadAnswer } from "./written.js";

export interface WriterOptions {
  /** Ends in the version segment, as in `https://kb.example.com/v1`. */
  readonly baseUrl: string;
  /** The API key; it is sent in the Authorization header and appears nowhere else. */
  readonly key: string;
  /** The place that the key came from, for messages. */
  readonly keyPlace?: string | undefined;
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
  /** PEM file of certificates trusted beside the usual ones. */
  readonly caFile?: string | undefined;
  /** Names the proxies. */
  readonly env?: NodeJS.ProcessEnv;
  /** Sends nothing more once it is aborted. A write under way has `grace` milliseconds left to be answered. */
  readonly signal?: AbortSignal;
  /** 10 s by default. */
  readonly grace?: number;
  readonly tally?: RequestTally;
  /** Milliseconds on a clock that only goes forward; that of the pace. */
  readonly now?: () => number;
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/** The write operations. Nothing else in this program sends anything but GET. */
export interface Writer extends WriteOperations {
  /** Ends every connection. */
  readonly close: () => Promise<void>;
}

const ignore: OnAnswer = () => {};

/** Sends of one write while the service refuses because too much is asked. */
const throttledTries = 12;

/** Opens connections of its own to the service. A write is sent once, and again only where the service refused to look at it. */
export function openWriter(options: WriterOptions): Writer {
  const { baseUrl, key, keyPlace, concurrency, caFile, env = {}, tally = emptyRequestTally() } = options;
  const { timeout = 300, maxBody = 64_000_000, pace = new Pace(), now = () => performance.now() } = options;
  const { signal = new AbortController().signal, sleep = pause, names = jobFileNames } = options;
  const onBytes = (bytes: number) => {
    tally.bytes += bytes;
  };
  const late = lateSignal(signal, options.grace ?? 10_000);
  const exchange = exchangeWith({ baseUrl, key, timeout, maxBody, signal: late, onBytes, names });
  const connections = openConnections(new URL(baseUrl), {
    connections: concurrency,
    timeout: 20_000,
    caFile,
    env,
    names,
  });

  const exchangeOnce = async (outgoing: Outgoing): Promise<Answer | Undone> => {
    const once = counted(() => exchange(outgoing, connections), tally, late);
    try {
      return await once({ path: outgoing.target, query: [] });
    } catch (error) {
      return outcomeOfError(error, late.aborted);
    }
  };
  const send = async <T>(outgoing: Outgoing, read: ReadAnswer<T>, onAnswer: OnAnswer): Promise<WriteOutcome<T>> => {
    for (let tries = 1; ; tries++) {
      await turnAt(pace, { signal, now, sleep });
      signal.throwIfAborted(); // the pace may let it go at once
      const sentAt = now();
      const answer = await exchangeOnce(outgoing);
      if ("kind" in answer) return answer;
      onAnswer(now() - sentAt);
      const throttle = answer.status < 500 ? throttleOf(answer) : undefined;
      if (!throttle) pace.accepted(sentAt, now());
      else pace.refused(sentAt, now(), throttle.retryAfter);
      if (!throttle || tries === throttledTries) {
        return outcomeOfAnswer(answer, { method: outgoing.method, read, key, keyPlace, names });
      }
      tally.throttled++;
    }
  };
  const prepare: Prepare = (method, path, body, read) => {
    const outgoing = { method, target: path };
    if (body === "none") {
      return { method, path, sha256: sha256Of(""), send: (onAnswer = ignore) => send(outgoing, read, onAnswer) };
    }
    if ("json" in body) {
      const text = jsonText(body.json);
      const sendText = (onAnswer = ignore) => send({ ...outgoing, body: text }, read, onAnswer);
      return { method, path, sha256: sha256Of(text), send: sendText };
    }
    const { data = null, file } = body.form;
    const sha256 = sha256Of(jsonText([data, file.name]));
    const sendAll = (onAnswer = ignore) =>
      sendForm(body.form, (form) => send({ ...outgoing, body: form }, read, onAnswer));
    return { method, path, sha256, send: sendAll };
  };
  return { ...writeOperations(prepare), close: () => connections.dispatcher.destroy() };
}

function sha256Of(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Aborted so many milliseconds after the signal, for the same reason: a write that is cut off may have been done. */
function lateSignal(signal: AbortSignal, grace: number): AbortSignal {
  const late = new AbortController();
  const end = () => void setTimeout(() => late.abort(signal.reason), grace).unref();
  signal.addEventListener("abort", end, { once: true });
  return late.signal;
}
