import { createHash } from "node:crypto";
import type { ReportFacts } from "../report-facts.js";
import { answersOf } from "./answers.js";
import type { Assets } from "./assets.js";
import { renderContents } from "./contents.js";
import { foreignText } from "./foreign.js";
import { renderGlossary } from "./glossary.js";
import { renderHeader } from "./header.js";
import { html, trusted } from "./html.js";
import { changesSection } from "./parts/changes.js";
import { flawsSection } from "./parts/flaws.js";
import { freshnessSection } from "./parts/freshness.js";
import { hitsSection } from "./parts/hits.js";
import { indexingSection } from "./parts/indexing.js";
import { lengthsSection } from "./parts/lengths.js";
import { lostSection } from "./parts/lost.js";
import { verdictSection } from "./parts/verdict.js";
import { renderSection } from "./section.js";

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
