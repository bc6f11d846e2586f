import { randomUUID } from "node:crypto";
import type { NotifyUrls } from "../job/job.js";
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
export function startNotice(job: string, runId: string, runKey: string): string {
  return JSON.stringify({ event: "start", job, run_id: runId, rid: runKey, status: "started", tool: toolText });
}

/** The body that tells how a run ended, as JSON; times in seconds. */
export function endNotice(outcome: RunOutcome, runKey: string): string {
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
  });
}

const toolText = `${tool.name} ${tool.version}`;
