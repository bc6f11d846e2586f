import { cutText, sentencesIn } from "../../reindex/cut-text.js";
import type { ChunkText } from "../../store/new-chunk.js";
import type { ProcessRule } from "../../store/process-rule.js";

/**
 * The chunks that a text becomes: it is cleaned, split at the separator of the rule, and longer pieces are cut. As in the service, a piece
 * loses symbols that it begins with, so that no text comes back word for word. In qa_model, each piece becomes a question and its answer.
 */
export function textPieces(text: string, form: string, { rules }: ProcessRule): readonly ChunkText[] {
  const { separator, max_tokens } = rules.segmentation;
  const cleaned = cleanText(text);
  const isWhole = form === "hierarchical_model" && rules.parent_mode === "full-doc";
  const parts = isWhole ? [cleaned] : cleaned.split(separator ? unescaped(separator) : /\n\s*\n/);
  const pieces = parts.flatMap((part) => (isWhole ? [part.trim()] : cutText(part, Math.max(2, max_tokens))));
  const contents = pieces.map(withoutSymbols).filter((piece) => piece !== "");
  return contents.map((content) => (form === "qa_model" ? questionAbout(content) : { content }));
}

/** Marks of language models lose their bars; three line breaks and more become two. */
function cleanText(text: string): string {
  return text
    .replace(/<\|/g, "<")
    .replace(/\|>/g, ">")
    .replace(/\r\n?/g, "\n")
    .replace(/\n{3,}/g, "\n\n");
}

/** People write line breaks as `\n` in their settings. */
function unescaped(separator: string): string {
  return separator.replace(/\\n/g, "\n").replace(/\\t/g, "\t");
}

function withoutSymbols(piece: string): string {
  return piece.replace(/^[#"(.[*\s]+/, "");
}

/** The language model of the demo: it asks for the first sentence of what it was given. */
function questionAbout(answer: string): ChunkText {
  return { content: `What follows from “${sentencesIn(answer)[0] ?? answer}”?`, answer };
}
