import { countText } from "../../amounts.js";
import type { FlawFacts } from "../flaw-facts.js";
import type { ReportFacts } from "../report-facts.js";
import type { Answers } from "./answers.js";
import { stateText, type Tone } from "./cells.js";
import { type Html, html } from "./html.js";
import type { Section } from "./section.js";

interface Status {
  readonly tone: Tone;
  readonly short: string;
}

/** The list of sections, each with its finding in a word or two. */
export function renderContents(sections: readonly Section[], facts: ReportFacts, answers: Answers): Html {
  const statuses = statusesOf(facts, answers);
  const items = sections.map(({ id, title }) => {
    const status = statuses[id];
    return html`<li><a href="#${id}">${title}</a> ${status && stateText(status.tone, status.short)}</li>\n`;
  });
  return html`<nav aria-label="Sections of this report"><ol>
${items}</ol></nav>`;
}

/** By the id of the section. */
function statusesOf(facts: ReportFacts, { complete, lost, stuck, never }: Answers): Readonly<Record<string, Status>> {
  const { states } = facts.freshness;
  const old = states.stale + states.unstable + states["never read"];
  const { all } = facts.lengths;
  const runs = facts.changes.runs.length;
  return {
    verdict: complete,
    lost,
    freshness: old > 0 ? { tone: "warn", short: `${old} not fresh` } : { tone: "good", short: "All read" },
    lengths: { tone: "quiet", short: all ? `Median ${all.median.toLocaleString("en-US")}` : "No chunks" },
    indexing: stuck,
    changes: { tone: "quiet", short: runs > 0 ? countText(runs, "run") : "No history" },
    hits: never,
    flaws: flawStatus(facts.flaws),
  };
}

function flawStatus({ copies, orphans, errors, disabled }: FlawFacts): Status {
  if (errors.total > 0) return { tone: "warn", short: countText(errors.total, "error") };
  if (orphans.total > 0) return { tone: "warn", short: countText(orphans.total, "orphan") };
  if (copies.chunks > 0) return { tone: "quiet", short: `${copies.chunks.toLocaleString("en-US")} copied` };
  if (disabled.total > 0) return { tone: "quiet", short: `${disabled.total.toLocaleString("en-US")} disabled` };
  return { tone: "good", short: "None" };
}
