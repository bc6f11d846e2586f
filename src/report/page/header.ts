import { bytesText, durationText } from "../../amounts.js";
import type { ReportFacts } from "../report-facts.js";
import type { VerdictFacts } from "../state-facts.js";
import type { Answer, Answers } from "./answers.js";
import { numberText, timeText } from "./cells.js";
import { foreign } from "./foreign.js";
import { type Html, type HtmlValue, html } from "./html.js";

/** The first screen: which run this is, the answers to the four questions, and how much the dump holds. */
export function renderHeader({ verdict }: ReportFacts, { complete, lost, stuck, never }: Answers): Html {
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
