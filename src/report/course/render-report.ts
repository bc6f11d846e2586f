import { readAssets } from "../page/assets.js";
import { renderPage } from "../page/page.js";
import { gatherFacts } from "./gather-facts.js";
import { type ReportRequest, withReportDefaults } from "./report-request.js";
import { type ReportSummary, summaryOf } from "./report-result.js";

/** A report that was rendered. */
export interface RenderedReport {
  /** One HTML document that needs nothing else. The same dump gives the same text. */
  readonly html: string;
  readonly summary: ReportSummary;
}

/**
 * Renders the report of a run. Rejects with UsageError where a path is no folder of a run or no database, with StopError where files of
 * a run are not those that it wrote, and with the reason of `request.signal`.
 */
export async function renderReport(request: ReportRequest): Promise<RenderedReport> {
  const options = withReportDefaults(request);
  const { facts, folders } = await gatherFacts(options);
  options.tally.step = "writing the page";
  const html = renderPage(facts, await readAssets());
  return { html, summary: summaryOf(facts, folders) };
}
