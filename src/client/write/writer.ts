import { createHash } from "node:crypto";
import { throttleOf } from "../check-answer.js";
import { openConnections } from "../connections.js";
import { counted } from "../counted.js";
import { exchangeWith, type Outgoing } from "../exchange.js";
import type { DocumentRef } from "../knowledge-api.js";
import { Pace } from "../pace.js";
import { pause, turnAt } from "../paced.js";
import { emptyRequestTally, type RequestTally } from "../request-tally.js";
import { type Answer, pathOf } from "../send.js";
import { outcomeOfAnswer, outcomeOfError, type WriteOutcome } from "./write-outcome.js";

export interface WriterOptions {
  /** Ends in the version segment, as in `https://kb.example.com/v1`. */
  readonly baseUrl: string;
  /** The API key; it is sent in the Authorization header and appears nowhere else. */
  readonly key: string;
  /** The place that the key came from, for messages. */
  readonly keyPlace?: string | undefined;
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

/** A chunk to add. */
export interface NewChunk {
  readonly content: string;
  readonly answer?: string;
  readonly keywords?: readonly string[];
}

/** All that a chunk shall be: the service loses most of what is left out. */
export interface ChunkUpdate extends NewChunk {
  readonly enabled?: boolean;
  readonly attachment_ids: readonly string[];
}

/** A write that is not sent yet, so that it can be noted first. */
export interface PreparedWrite {
  readonly method: "POST" | "PATCH";
  readonly path: string;
  /** SHA-256 of the body, in hex. */
  readonly sha256: string;
  /** Sends it. Rejects only if nothing was done: with the reason of the signal, or StopError for a certificate that is not trusted. */
  readonly send: () => Promise<WriteOutcome>;
}

type Place = Pick<DocumentRef, "datasetId" | "documentId">;

/** The write operations. Nothing else in this program sends anything but GET. */
export interface Writer {
  /** Adds one chunk behind the last one. */
  readonly addChunk: (document: Place, chunk: NewChunk) => PreparedWrite;
  readonly updateChunk: (document: Place, chunkId: string, chunk: ChunkUpdate) => PreparedWrite;
  readonly addChild: (document: Place, chunkId: string, content: string) => PreparedWrite;
  readonly updateChild: (document: Place, chunkId: string, childId: string, content: string) => PreparedWrite;
  /** Ends every connection. */
  readonly close: () => Promise<void>;
}

/** Sends of one write while the service refuses because too much is asked. */
const throttledTries = 12;

/** Opens connections of its own to the service. A write is sent once, and again only where the service refused to look at it. */
export function openWriter(options: WriterOptions): Writer {
  const { baseUrl, key, keyPlace, concurrency, caFile, env = {}, tally = emptyRequestTally() } = options;
  const { timeout = 300, maxBody = 64_000_000, pace = new Pace(), now = () => performance.now() } = options;
  const { signal = new AbortController().signal, sleep = pause } = options;
  const onBytes = (bytes: number) => {
    tally.bytes += bytes;
  };
  const late = lateSignal(signal, options.grace ?? 10_000);
  const exchange = exchangeWith({ baseUrl, key, timeout, maxBody, signal: late, onBytes });
  const connections = openConnections(new URL(baseUrl), { connections: concurrency, timeout: 20_000, caFile, env });

  const exchangeOnce = async (outgoing: Outgoing): Promise<Answer | WriteOutcome> => {
    const once = counted(() => exchange(outgoing, connections), tally, late);
    try {
      return await once({ path: outgoing.target, query: [] });
    } catch (error) {
      return outcomeOfError(error, late.aborted);
    }
  };
  const send = async (outgoing: Outgoing): Promise<WriteOutcome> => {
    for (let tries = 1; ; tries++) {
      await turnAt(pace, { signal, now, sleep });
      signal.throwIfAborted(); // the pace may let it go at once
      const sentAt = now();
      const answer = await exchangeOnce(outgoing);
      if ("kind" in answer) return answer;
      const throttle = answer.status < 500 ? throttleOf(answer) : undefined;
      if (!throttle) pace.accepted(sentAt, now());
      else pace.refused(sentAt, now(), throttle.retryAfter);
      if (!throttle || tries === throttledTries) return outcomeOfAnswer(answer, outgoing.method, key, keyPlace);
      tally.throttled++;
    }
  };
  const prepare = (method: "POST" | "PATCH", path: string, content: object): PreparedWrite => {
    const body = JSON.stringify(content);
    const sha256 = createHash("sha256").update(body).digest("hex");
    return { method, path, sha256, send: () => send({ method, target: path, body }) };
  };
  const chunksOf = ({ datasetId, documentId }: Place) =>
    pathOf`/datasets/${datasetId}/documents/${documentId}/segments`;
  const chunkPath = (place: Place, chunkId: string) => chunksOf(place) + pathOf`/${chunkId}`;
  const childrenOf = (place: Place, chunkId: string) => `${chunkPath(place, chunkId)}/child_chunks`;
  return {
    addChunk: (place, chunk) => prepare("POST", chunksOf(place), { segments: [chunk] }),
    updateChunk: (place, chunkId, chunk) => prepare("POST", chunkPath(place, chunkId), { segment: chunk }),
    addChild: (place, chunkId, content) => prepare("POST", childrenOf(place, chunkId), { content }),
    updateChild: (place, chunkId, childId, content) =>
      prepare("PATCH", childrenOf(place, chunkId) + pathOf`/${childId}`, { content }),
    close: () => connections.dispatcher.destroy(),
  };
}

/** Aborted so many milliseconds after the signal, for the same reason: a write that is cut off may have been done. */
function lateSignal(signal: AbortSignal, grace: number): AbortSignal {
  const late = new AbortController();
  const end = () => void setTimeout(() => late.abort(signal.reason), grace).unref();
  signal.addEventListener("abort", end, { once: true });
  return late.signal;
}
