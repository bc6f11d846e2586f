import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Manifest } from "../../dump/manifest.js";
import { foreign, foreignText, type HtmlValue, html, stateText, type Tone, timeText, trusted } from "./html.js";
import { commandBlock } from "./table.js";

/** A part of the page: a question about the run, its answer, and the details. */
export interface Section {
  /** The anchor of the section, to which links in the page lead. */
  readonly id: string;
  readonly title: string;
  /** The answer in a sentence or two. */
  readonly lead: HtmlValue;
  /** The details. Null: there are none, and only the first screen shows the answer. */
  readonly body: Exclude<HtmlValue, undefined>;
  /** Whether you need to act. Such sections come first, unfolded. */
  readonly needsAction?: boolean;
  /** The next step: a sentence, and a command if there is one. */
  readonly next?: { readonly text: string; readonly command?: string } | undefined;
}

/** A section that answers a question on the first screen. */
export interface Answered extends Section {
  readonly question: string;
  /** The answer in a word or two. */
  readonly short: string;
  readonly tone: Tone;
}

/** The answer to the question of a section. */
export type Answer = Pick<Answered, "tone" | "short" | "lead">;

/** The contents of a page. */
export interface PageParts {
  readonly manifest: Manifest;
  readonly hasContent: boolean;
  /** The answers on the first screen. */
  readonly answers: readonly Answered[];
  /** The next steps, most urgent first. */
  readonly nexts: readonly NonNullable<Section["next"]>[];
  readonly sections: readonly Section[];
}

/** The style of the page, and the script that sorts, filters and expands its tables. */
export async function readAssets() {
  const read = (name: string) => readFile(new URL(`./assets/${name}`, import.meta.url), "utf8");
  return { style: await read("page.css"), script: await read("page.js") };
}

type Assets = Awaited<ReturnType<typeof readAssets>>;

/**
 * Renders a report as one self-contained HTML document: the answers and next steps, then sections that need action, then the others,
 * folded. Deterministic.
 */
export function renderPage(
  { manifest, hasContent, answers, nexts, sections }: PageParts,
  { style, script }: Assets,
): string {
  const { job, run_id, tool, service, started_at } = manifest;
  const [open, folded] = [sections.filter((each) => each.needsAction), sections.filter((each) => !each.needsAction)];
  // The script includes its tags, because rolldown rewrites a template that contains a closing script tag.
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
<header>
<h1>${foreign(job)}</h1>
<p class="note">Run <code>${run_id}</code> of ${timeText(Date.parse(started_at))} UTC, from <code>${foreign(service.base_url)}</code></p>
<div class="answers">
${answers.map(renderAnswer)}</div>
<div class="next">
<h2>What to do next</h2>
${nexts.length === 0 ? html`<p>Nothing needs to be done.</p>` : nexts.map(({ text, command }) => html`<p>${text}</p>${command !== undefined && commandBlock(command)}`)}
</div>
</header>
<main id="sections" tabindex="-1">
${open.map(renderOpen)}
<h2>${open.length === 0 ? "Details" : "More details"}</h2>
${folded.map(renderFolded)}
${glossary}
</main>
<footer>
<p class="note">Made by kbdump ${tool.version} from the files of this run${hasContent ? "" : ", without any text of the service"}. All times are UTC; ages count from the end of the run. This page loads nothing and sends nothing.</p>
</footer>
${trusted(`<script>${script}</script>`)}
</body>
</html>
`;
  return page.toString();
}

/** The content security policy: the page loads nothing, and only this script and style are allowed. */
function policyOf({ style, script }: Assets): string {
  const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  return `default-src 'none'; style-src ${hash(style)}; script-src ${hash(script)}; img-src data:; base-uri 'none'; form-action 'none'`;
}

/** Renders an answer. Its short form links to its section. */
function renderAnswer({ id, question, tone, short, lead, body }: Answered): HtmlValue {
  const state = stateText(tone, short);
  return html`<div class="answer ${tone}">
<p>${question}</p>
<p class="short">${body === null ? state : html`<a href="#${id}">${state}</a>`}</p>
<p>${lead}</p>
</div>
`;
}

function renderOpen({ id, title, lead, body }: Section): HtmlValue {
  return html`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
<p class="lead">${lead}</p>
${body}
</section>
`;
}

function renderFolded({ id, title, lead, body }: Section): HtmlValue {
  const summary = html`<h2 id="${id}-title">${title}</h2> <span class="lead">${lead}</span>`;
  return fold(summary, html`<section id="${id}" aria-labelledby="${id}-title">${body}</section>`);
}

function fold(summary: HtmlValue, body: HtmlValue): HtmlValue {
  return html`<details class="fold"><summary>${summary}</summary>
${body}
</details>
`;
}

/** Explains words for readers who do not know the service. */
const glossary = fold(
  html`<h2>Words on this page</h2>`,
  html`<dl>
<dt>Dataset</dt><dd>a knowledge base: documents that are searched together.</dd>
<dt>Chunk</dt><dd>a piece of a document. A search finds chunks, not documents.</dd>
<dt>Child chunk</dt><dd>a smaller piece of a chunk, in hierarchical documents: the search compares it, and gives back its chunk.</dd>
<dt>Run</dt><dd>one time that kbdump read everything. Its files are a dump.</dd>
<dt>Re-index</dt><dd>the service cuts a document into chunks again. All old chunks go, with everything that people changed in them.</dd>
<dt>Batch</dt><dd>documents that were uploaded together. The service tells how far their indexing is.</dd>
<dt>Retrieved</dt><dd>found by a search. The service counts it for each chunk, from its indexing on.</dd>
<dt>Token</dt><dd>the unit in which a model counts text; economy datasets count none.</dd>
</dl>`,
);

/** Joins sentences with spaces, without the empty ones. */
export function sentences(...all: readonly HtmlValue[]): HtmlValue {
  return all.filter((text) => text).map((text, at) => [at > 0 && " ", text]);
}

/** Counts in words, such as `3 failed`, without those of 0. */
export function withoutZero(...counts: readonly string[]): readonly string[] {
  return counts.filter((count) => !count.startsWith("0 "));
}
