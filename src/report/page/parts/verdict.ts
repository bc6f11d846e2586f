import { countText } from "../../../amounts.js";
import type { VerdictFacts } from "../../state-facts.js";
import { type HtmlValue, html } from "../html.js";
import type { Section } from "../section.js";
import { renderNotes } from "./notes.js";
import { renderDatasets, renderDrift, renderFiles, renderIncomplete } from "./verdict-tables.js";
import { renderVerification } from "./verification.js";

/** Whether the dump is complete: the documents that are not, what the dump holds, and what reading it again found. */
export function verdictSection(facts: VerdictFacts): Section {
  return {
    id: "verdict",
    title: "Verdict",
    lead: leadOf(facts),
    body: [
      renderIncomplete(facts),
      html`<h3>Verification</h3>`,
      renderVerification(facts.verification),
      html`<h3>Datasets and files</h3>`,
      renderDatasets(facts),
      renderOriginals(facts.originals),
      renderFiles(facts),
      renderWarnings(facts),
      renderDrift(facts),
    ],
  };
}

function leadOf({ documents, status }: VerdictFacts): HtmlValue {
  const { complete, unstable, failed } = documents;
  const all = complete + unstable + failed;
  if (unstable + failed > 0) {
    return `${complete} of ${countText(all, "document")} ${complete === 1 ? "was" : "were"} read whole. kbdump counts a document as complete only if all pages of its lists came, with as many rows as the service counts.`;
  }
  if (status === "partial")
    return "Every document that was read is complete, but the run is not: the warnings below say what is missing.";
  if (all === 0) return "The run found no documents. Check that the job names the datasets that you mean.";
  const [read, whose] =
    all === 1 ? ["The one document was", "its"] : [`All ${countText(all, "document")} were`, "their"];
  return `${read} read whole: every page of ${whose} lists came, with as many rows as the service counts.`;
}

function renderOriginals(originals: VerdictFacts["originals"]): HtmlValue {
  if (originals === null)
    return html`<p>The job does not ask for the original files of documents, so the dump has none of them.</p>`;
  const kinds = Object.entries(originals).sort(([a], [b]) => (a < b ? -1 : 1));
  if (kinds.length === 0) return html`<p>The run was asked for original files, and found none.</p>`;
  return html`<p>Original files and attachments: ${kinds.map(([verdict, count], at) => [at > 0 && ", ", `${count} ${verdict}`])}.</p>`;
}

function renderWarnings({ warnings, warning_count }: VerdictFacts): HtmlValue {
  if (warning_count === 0) return "";
  return html`<h3>Warnings of the run</h3>${renderNotes(warnings, warning_count, "warning")}`;
}
