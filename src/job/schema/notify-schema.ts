import * as v from "valibot";
import { mapping } from "./mapping.js";

const notifyText = "a mapping such as {url: https://hc-ping.com/your-uuid}";
const someText = "at least one of url, start, success, partial and failure";
const urlText = "an https URL without user and password (http for this machine only)";

const url = (description: string) =>
  v.pipe(
    v.exactOptional(
      v.pipe(
        v.string(urlText),
        v.regex(/^[hH][tT][tT][pP][sS]?:\/\/[^\s\\/?#@]+([/?][^\s\\#]*)?$/, urlText),
        v.check(isSafe, urlText),
      ),
    ),
    v.description(description),
  );

/** The receivers of notifications. The URLs are secrets: anybody who has one can send false messages. */
export const notifySchema = v.pipe(
  mapping(notifyText, {
    url: url(
      "Told of every end of a run, with /start and /fail behind it of the start and of a run that is not complete.",
    ),
    start: url("Told of the start of a run, in place of url."),
    success: url("Told of a complete run, in place of url."),
    partial: url("Told of a partial run, in place of failure or url."),
    failure: url("Told of a run that failed, in place of url."),
    style: v.pipe(
      v.exactOptional(v.picklist(["json", "teams"], "json or teams")),
      v.description(
        "Body of the calls. json, the default: figures, and a text that Slack shows. teams: an Adaptive Card, for a workflow of Microsoft Teams.",
      ),
    ),
  }),
  v.minEntries(1, someText),
  v.check(({ style, ...urls }) => Object.keys(urls).length > 0, someText),
);

function isSafe(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === "https:" || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
