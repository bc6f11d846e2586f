import * as v from "valibot";
import { count, listOf, oneOf, orNull, result, text } from "../schema.js";

/** A run in a report. Symlinks in `folder` are resolved. */
const reportedRun = result({ folder: text, job: text, run_id: text });
export type ReportedRun = v.InferOutput<typeof reportedRun>;

/** The main figures of a report. */
const reportSummary = result({
  status: oneOf("complete", "partial"),
  verified: v.pipe(orNull(oneOf("sound", "differences")), v.description("null with --no-verify")),
  findings: v.pipe(orNull(count), v.description("differences that the verification found; null with --no-verify")),
  run: reportedRun,
  documents: count,
  /** Documents that failed or are unstable. */
  incomplete_documents: count,
  chunks: count,
  child_chunks: count,
  against: v.pipe(orNull(reportedRun), v.description("the older run; null without --against, as are the next two")),
  lost: v.pipe(orNull(count), v.description("chunks and child chunks that are lost since the older run")),
  manual_edits: v.pipe(orNull(count), v.description("those of them with evidence of a manual edit")),
  not_compared: v.pipe(
    orNull(count),
    v.description("documents of the older run that could not be compared, or are gone; null without --against"),
  ),
  warnings: v.pipe(listOf(text), v.description("on what the comparison may not show")),
});
export type ReportSummary = v.InferOutput<typeof reportSummary>;

/** The result of `kbdump report --json`. */
export const reportResult = result({ path: text, bytes: count, ...reportSummary.entries });
export type ReportResult = v.InferOutput<typeof reportResult>;
