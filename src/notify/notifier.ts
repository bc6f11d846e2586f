import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Connections, openConnections, unlessAborted } from "../client/connections.js";
import { proxyTrouble } from "../client/failed-request.js";
import { UsageError } from "../errors.js";
import type { Notify, NotifyStyle, NotifyUrls } from "../job/job.js";
import { tool } from "../tool.js";
import type { RunOutcome } from "./run-metrics.js";

/**
 * Timeouts in milliseconds. `longest`: for the notice of the end. `forStart`: how long the end waits for a start notice that
 * is still being sent. `whenInterrupted`: for both notices after a signal.
 */
const [longest, forStart, whenInterrupted] = [20_000, 3_000, 2_500];

/** Notifies a job's URLs when a run starts and how it ends. Never rejects: a failed notice is a warning. */
export class Notifier {
  readonly #notify: Notify;
  readonly #env: NodeJS.ProcessEnv;
  readonly #warn: (message: string) => void;
  readonly #runKey = newRunKey();
  readonly #startEnd = new AbortController();
  #start: Promise<void> = Promise.resolve();

  /** `env`: the environment variables that set proxies. */
  constructor(notify: Notify, env: NodeJS.ProcessEnv, warn: (message: string) => void) {
    this.#notify = notify;
    this.#env = env;
    this.#warn = warn;
  }

  /** Sends the start notice in the background. */
  start(job: string, runId: string): void {
    this.#start = this.#send("start", startNotice(job, runId, this.#runKey, this.#notify.style), this.#startEnd.signal);
  }

  /**
   * Sends the end notice, after the start notice, so that a service gets them in order. Aborting `interrupt` shortens the
   * timeouts.
   */
  async end(outcome: RunOutcome, interrupt: AbortSignal): Promise<void> {
    const interrupted = interrupt.aborted;
    const giveUp = setTimeout(() => this.#startEnd.abort(), interrupted ? 0 : forStart);
    await this.#start;
    clearTimeout(giveUp);
    const limit = AbortSignal.timeout(interrupted ? whenInterrupted : longest);
    const signal = interrupted ? limit : AbortSignal.any([limit, interrupt]);
    await this.#send(eventOf(outcome), endNotice(outcome, this.#runKey, this.#notify.style), signal);
  }

  async #send(event: NoticeEvent, body: string, signal: AbortSignal): Promise<void> {
    const url = noticeUrl(this.#notify.urls, event, this.#runKey);
    if (url === undefined) return;
    const reason = await sendNotice(url, body, { signal, env: this.#env });
    if (reason !== undefined) this.#warn(`could not notify ${new URL(url).host} (${event}): ${reason}`);
  }
}

/** The event that a notice reports. */
type NoticeEvent = "start" | "success" | "partial" | "failure";

/** A new id for one run, with which a service pairs its start and end. */
export const newRunKey = (): string => randomUUID();

/** The event for an outcome. An interrupted run counts as a failure, because it did not finish its work. */
export function eventOf({ status }: Pick<RunOutcome, "status">): NoticeEvent {
  if (status === "complete") return "success";
  return status === "partial" ? "partial" : "failure";
}

/**
 * The URL for an event; undefined if there is none. An event's own URL takes precedence; a partial run uses that of a failure.
 * Otherwise it is made from `url`, with `/start` or `/fail` and with `?rid=`, which pairs the start and the end. This follows
 * healthchecks.io (https://healthchecks.io/docs/http_api/).
 */
export function noticeUrl(urls: NotifyUrls, event: NoticeEvent, runKey: string): string | undefined {
  const own = urls[event] ?? (event === "partial" ? urls.failure : undefined);
  if (own !== undefined || urls.url === undefined) return own;
  const url = new URL(urls.url);
  const path = url.pathname.replace(/\/+$/, "");
  url.pathname = event === "success" ? path || "/" : `${path}/${event === "start" ? "start" : "fail"}`;
  url.searchParams.set("rid", runKey);
  return url.href;
}

/** The JSON body of a start notice. */
export function startNotice(job: string, runId: string, runKey: string, style: NotifyStyle): string {
  const text = plain(`kbdump ${job}: started, run ${runId}`);
  if (style === "teams") return teamsMessage(text);
  return JSON.stringify({ event: "start", job, run_id: runId, rid: runKey, status: "started", tool: toolText, text });
}

/** The JSON body of an end notice. Times are in seconds. */
export function endNotice(outcome: RunOutcome, runKey: string, style: NotifyStyle): string {
  const text = endText(outcome);
  if (style === "teams") return teamsMessage(text);
  const { job, runId, status, seconds, requests, rows, documents, failedDocuments, message } = outcome;
  const { sent, retried, throttled, bytes } = requests;
  return JSON.stringify({
    event: eventOf(outcome),
    job,
    run_id: runId,
    rid: runKey,
    status,
    seconds: Math.round(seconds * 1000) / 1000,
    counts: rows ?? null,
    documents_failed: documents?.failed ?? 0,
    documents_unstable: documents?.unstable ?? 0,
    failed_documents: failedDocuments,
    requests: { sent, retried, throttled, bytes },
    message,
    tool: toolText,
    text,
  });
}

/** Maximum failed documents to list in the text. */
const mostNames = 3;

/** The message as one line: `kbdump nightly: partial: 4 of 6 documents complete, 2 failed: "Handbook" (…), …`. */
function endText({ job, status, message, failedNames }: RunOutcome): string {
  const verdict = message.startsWith(status) ? message : `${status}: ${message}`;
  const more = failedNames.length - mostNames;
  const failed = [...failedNames.slice(0, mostNames), ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
  return plain(`kbdump ${job}: ${verdict}${failed === "" ? "" : `: ${failed}`}`);
}

/** Removes angle brackets, which Slack reads as mentions and links: a document may be named `<!channel>`. */
function plain(text: string): string {
  return text.replaceAll("<", "‹").replaceAll(">", "›");
}

/** A message with an Adaptive Card, the only kind that a Teams workflow posts. */
function teamsMessage(text: string): string {
  const content = {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.2",
    body: [{ type: "TextBlock", text, wrap: true }],
  };
  const card = { contentType: "application/vnd.microsoft.card.adaptive", contentUrl: null, content };
  return JSON.stringify({ type: "message", attachments: [card] });
}

const toolText = `${tool.name} ${tool.version}`;

interface SendOptions {
  /** The environment variables that set proxies. */
  readonly env: NodeJS.ProcessEnv;
  /** Aborting it ends the sending, including the current try. */
  readonly signal: AbortSignal;
  /** Milliseconds to wait before each retry. Their number is the number of retries. */
  readonly waits?: readonly number[];
  /** Timeout of one try in milliseconds. */
  readonly timeout?: number;
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection was reset",
  UND_ERR_SOCKET: "the connection was closed",
  UND_ERR_CONNECT_TIMEOUT: "no connection in time",
  ENOTFOUND: "unknown host name",
  EAI_AGAIN: "the host name could not be looked up",
  ERR_INVALID_URL: "its URL is invalid",
};

/**
 * Posts a JSON body, with retries where they may help. Returns undefined on success, or the reason of the failure; never rejects.
 * The reason includes nothing of the URL, which is secret. Does not follow redirects; always checks certificates.
 */
export async function sendNotice(url: string, body: string, options: SendOptions): Promise<string | undefined> {
  const { signal, waits = [1_000, 2_000] } = options;
  for (let tried = 0; ; tried++) {
    const { reason, again } = await post(url, body, options);
    const wait = waits[tried];
    if (reason === undefined || !again || wait === undefined || signal.aborted) return reason;
    await sleep(wait, undefined, { signal }).catch(() => {});
  }
}

interface Tried {
  readonly reason?: string;
  /** Whether a retry may help. */
  readonly again?: boolean;
}

async function post(url: string, body: string, { signal, env, timeout = 10_000 }: SendOptions): Promise<Tried> {
  const limit = AbortSignal.timeout(timeout);
  let connections: Connections | undefined;
  try {
    const target = new URL(url);
    connections = openConnections(target, { connections: 1, timeout, env });
    const status = await statusOf(target, body, connections, AbortSignal.any([signal, limit]));
    if (status >= 200 && status < 300) return {};
    const what = status >= 300 && status < 400 ? "a redirect, which is not followed" : `status ${status}`;
    return { reason: `it answered with ${what}`, again: status >= 500 || [408, 425, 429].includes(status) };
  } catch (error) {
    if (signal.aborted) return { reason: "there was no time left for it" };
    if (limit.aborted) return { reason: `no answer within ${timeout / 1000} s`, again: true };
    if (error instanceof UsageError) return { reason: error.message.replace(/\s+/g, " ") };
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    const words = reasons[code] ?? `it could not be sent (${code})`;
    const proxy = connections?.proxy();
    const atProxy = proxy && proxyTrouble(error, new URL(url).origin, proxy, words);
    return { reason: atProxy?.text ?? words, again: true };
  } finally {
    await connections?.dispatcher.destroy();
  }
}

/** The status of the answer, without reading its body. */
async function statusOf(target: URL, body: string, { dispatcher }: Connections, signal: AbortSignal): Promise<number> {
  const headers = { "content-type": "application/json", "user-agent": `${tool.name}/${tool.version}` };
  const { origin, pathname, search } = target;
  const sent = dispatcher.request({ origin, path: pathname + search, method: "POST", headers, body, signal });
  const answer = await unlessAborted(sent, signal);
  answer.body.on("error", () => {}); // the body fails when the connection closes
  return answer.statusCode;
}
