import { type Html, html } from "./html.js";

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
    "the service cuts a document into chunks anew. All old chunks go, with everything that people changed in them.",
  ],
  ["Batch", "documents that were uploaded together. The service tells how far their indexing is."],
  [
    "Retrieved",
    "found by a search, and handed to a user or a model. The service counts it for each chunk, from its indexing on.",
  ],
  ["Token", "the unit in which a model counts text; economy datasets count none."],
];

export function renderGlossary(): Html {
  return html`<details class="glossary"><summary>Words on this page</summary>
<dl>
${words.map(([word, meaning]) => html`<dt>${word}</dt><dd>${meaning}</dd>\n`)}</dl></details>`;
}
