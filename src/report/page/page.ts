import { createHash } from "node:crypto";
import { bytesText, countText, durationText } from "../../amounts.js";
import type { FlawFacts, ReportFacts, VerdictFacts } from "../report-facts.js";
import { type Answer, type Answers, answersOf } from "./answers.js";
import type { Assets } from "./assets.js";
import { foreign, foreignText, type Html, type HtmlValue, html, renderSection, type Section, trusted } from "./html.js";
import { changesSection } from "./parts/changes.js";
import { flawsSection } from "./parts/flaws.js";
import { freshnessSection } from "./parts/freshness.js";
import { hitsSection } from "./parts/hits.js";
import { indexingSection } from "./parts/indexing.js";
import { lengthsSection } from "./parts/lengths.js";
import { lostSection } from "./parts/lost.js";
import { verdictSection } from "./parts/verdict.js";
import { numberText, stateText, type Tone, timeText } from "./table.js";

/** The page of a report: one HTML document that needs nothing else. The same facts give the same text. */
export function renderPage(facts: ReportFacts, { style, script }: Assets): string {
  const sections = [
    verdictSection(facts.verdict),
    ...(facts.lost ? [lostSection(facts.lost)] : []),
    freshnessSection(facts.freshness),
    lengthsSection(facts.lengths),
    indexingSection(facts.indexing),
    changesSection(facts.changes),
    hitsSection(facts.hits),
    flawsSection(facts.flaws),
  ];
  const answers = answersOf(facts);
  const { job, run_id, tool_version } = facts.verdict;
  // The script comes with its tags: rolldown rewrites a template that holds an end tag of a script.
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policyOf({ style, script })}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${foreignText(job)}: report of run ${run_id}</title>
<style>${trusted(style)}</style>
</head>
<body>
<a class="skip" href="#sections">Skip to the sections</a>
${renderHeader(facts, answers)}
<div class="columns">
${renderContents(sections, facts, answers)}
<main id="sections" tabindex="-1">
${sections.map(renderSection)}
</main>
</div>
<footer>
${renderGlossary()}
<p>Made by kbdump ${tool_version} from the files of this run${facts.hasContent ? "" : ", without any text of the service"}. All times are UTC; ages count from the end of the run. This page loads nothing and sends nothing.</p>
</footer>
${trusted(`<script>${script}</script>`)}
</body>
</html>
`;
  return page.toString();
}

/** Nothing is loaded from anywhere, and no script or style runs but these two. */
function policyOf({ style, script }: Assets): string {
  const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  return `default-src 'none'; style-src ${hash(style)}; script-src ${hash(script)}; img-src data:; base-uri 'none'; form-action 'none'`;
}

interface Status {
  readonly tone: Tone;
  readonly short: string;
}

/** The list of sections, each with its finding in a word or two. */
function renderContents(sections: readonly Section[], facts: ReportFacts, answers: Answers): Html {
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

/** The first screen: which run this is, the answers to the four questions, and how much the dump holds. */
function renderHeader({ verdict }: ReportFacts, { complete, lost, stuck, never }: Answers): Html {
  const { job, run_id, base_url, started_at, tool_version } = verdict;
  return html`<header>
<p class="product">kbdump report</p>
<h1>${foreign(job)}</h1>
<dl class="origin">
${[
  pair("Run", html`<code>${run_id}</code>`),
  pair("Read", html`${timeText(started_at)} UTC`),
  pair("Service", html`<code>${foreign(base_url)}</code>`),
  pair("Version", tool_version),
]}</dl>
<div class="answers">
${renderAnswer(complete)}${[lost, stuck, never].map(renderAnswer)}</div>
${renderFigures(verdict)}
</header>`;
}

/** The whole answer leads to its section. */
function renderAnswer({ section, question, tone, short, text }: Answer): Html {
  const answer = html`<strong class="state ${tone}">${short}</strong>`;
  return html`<div class="answer ${tone}">
<p class="question">${question}</p>
<p class="short">${section === null ? answer : html`<a href="#${section}">${answer}</a>`}</p>
<p>${text}</p>
</div>
`;
}

function renderFigures(facts: VerdictFacts): Html {
  const { complete, unstable, failed } = facts.documents;
  const bytes = facts.files.reduce((sum, file) => sum + file.bytes, 0);
  return html`<dl class="figures">
${[
  pair("Documents", numberText(complete + unstable + failed)),
  pair("Chunks", numberText(facts.chunks)),
  pair("Child chunks", numberText(facts.child_chunks)),
  pair("Size of its files", bytesText(bytes)),
  pair("Time to read", durationText(facts.finished_at - facts.started_at)),
]}</dl>`;
}

function pair(term: string, value: HtmlValue): Html {
  return html`<div><dt>${term}</dt><dd>${value}</dd></div>\n`;
}

/** The words that the page cannot do without, for readers who do not know the service. */
const words: readonly (readonly [word: string, meaning: string])[] = [
  ["Dataset", "a knowledge base: documents that are searched together."],
  ["Chunk", "a piece of a document. A search finds chunks, not documents."],
  [
    "Child chunk",
    "a smaller piece of a chunk, in hierarchical documents: the search compares it, and gives back its chunk.",
  ],
  ["Run", "one time that kbdump read everything. Its files are a dump."],
  [
    "Re-index",
    "the service cuts a document into chunks again. All old chunks go, with everything that people changed in them.",
  ],
  ["Batch", "documents that were uploaded together. The service tells how far their indexing is."],
  [
    "Retrieved",
    "found by a search, and handed to a user or a model. The service counts it for each chunk, from its indexing on.",
  ],
  ["Token", "the unit in which a model counts text; economy datasets count none."],
];

function renderGlossary(): Html {
  return html`<details class="glossary"><summary>Words on this page</summary>
<dl>
${words.map(([word, meaning]) => html`<dt>${word}</dt><dd>${meaning}</dd>\n`)}</dl></details>`;
}
