import { randomUUID } from "node:crypto";
import type { NotifyStyle, NotifyUrls } from "../job/job.js";
import { tool } from "../tool.js";
import type { RunOutcome } from "./run-outcome.js";

/** The event that a notification reports. */
export type NoticeEvent = "start" | "success" | "partial" | "failure";

/** A new id for one run of the program, by which a service pairs its start with its end. */
export const newRunKey = (): string => randomUUID();

/** The event that an outcome is; a run that was interrupted has not done what it was to do. */
export function eventOf({ status }: Pick<RunOutcome, "status">): NoticeEvent {
  if (status === "complete") return "success";
  return status === "partial" ? "partial" : "failure";
}

/**
 * Gives the URL that an event is sent to; undefined if it has none. A URL of its own comes first; a partial run goes where a
 * failure goes. Below `url` stand, by the convention of healthchecks.io (https://healthchecks.io/docs/http_api/), `/start` and
 * `/fail`, and `?rid=` pairs the two.
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

/** The body that tells of a start, as JSON. */
export function startNotice(job: string, runId: string, runKey: string, style: NotifyStyle): string {
  const text = plain(`kbdump ${job}: started, run ${runId}`);
  if (style === "teams") return teamsMessage(text);
  return JSON.stringify({ event: "start", job, run_id: runId, rid: runKey, status: "started", tool: toolText, text });
}

/** The body that tells how a run ended, as JSON; times in seconds. */
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

/** Failed documents that the text names. */
const mostNames = 3;

/** One line for people: `kbdump nightly: partial: 4 of 6 documents complete, 2 failed: "Handbook" (…), …`. */
function endText({ job, status, message, failedNames }: RunOutcome): string {
  const verdict = message.startsWith(status) ? message : `${status}: ${message}`;
  const more = failedNames.length - mostNames;
  const failed = [...failedNames.slice(0, mostNames), ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
  return plain(`kbdump ${job}: ${verdict}${failed === "" ? "" : `: ${failed}`}`);
}

/** Without angle brackets, in which Slack sees mentions and links: a document may be named `<!channel>`. */
function plain(text: string): string {
  return text.replaceAll("<", "‹").replaceAll(">", "›");
}

/** A message with an Adaptive Card, the only thing that a workflow of Teams posts. */
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
