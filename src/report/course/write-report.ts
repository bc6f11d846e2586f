import { randomUUID } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { writeAside } from "../../dump/files/write-aside.js";
import { StopError } from "../../errors.js";
import { fileErrorText } from "../../file-error.js";
import { checkPlace } from "./place.js";
import { renderReport } from "./render-report.js";
import type { ReportRequest } from "./report-request.js";
import type { ReportResult } from "./report-result.js";

export interface WriteReportOptions {
  /** The path at which the file is made, on the same disk; beside the file by default. */
  readonly aside?: string;
}

/**
 * Writes the report of a run to a file, whole or not at all; a file that is there is replaced. Its owner alone may read it. Rejects as
 * `renderReport` does, and with UsageError for a place that no report can be written to.
 */
export async function writeReport(
  path: string,
  request: ReportRequest,
  { aside = join(dirname(path), `.${basename(path)}.${randomUUID()}`) }: WriteReportOptions = {},
): Promise<ReportResult> {
  await checkPlace(path);
  const { html, summary } = await renderReport(request);
  request.signal?.throwIfAborted();
  await writeAside(path, html, { aside }).catch((error: unknown) => {
    const reason = fileErrorText(error);
    throw reason === undefined
      ? error
      : new StopError(`the report could not be written to ${path}: ${reason}`, { cause: error });
  });
  return { path, bytes: Buffer.byteLength(html), ...summary };
}
