import { automaticChildren, type Source } from "../../../src/demo/indexing.js";
import type { Details } from "../../../src/demo/knowledge.js";
import {
  type ChunkText,
  type Dataset,
  isHighQuality,
  isQa,
  newChunk,
  type StoredDocument,
} from "../../../src/demo/rows.js";
import { isMapping } from "../../../src/schema.js";

/** The source, split into pieces of another size. Questions stay with their answers. */
export function cutAgain(source: Source, most: number, document: StoredDocument, dataset: Dataset): Source {
  if (isQa(document.row)) return source;
  const pieces = cutText(source.map(({ row }) => row.content).join("\n\n"), most);
  return sourceFrom(
    pieces.map((content) => ({ content })),
    document,
    dataset,
  );
}

/** Splits a text into pieces of at most `most` characters (at least 2): after a sentence, otherwise at white space, otherwise anywhere. */
export function cutText(text: string, most: number): readonly string[] {
  const pieces: string[] = [];
  let rest = text.trim();
  while (rest.length > most) {
    const end = endOfPiece(rest.slice(0, most));
    pieces.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  return rest === "" ? pieces : [...pieces, rest];
}

function endOfPiece(head: string): number {
  const sentence = head.search(/[.!?。！？؟][^.!?。！？؟]*$/) + 1;
  if (sentence > 0) return sentence;
  const space = head.search(/\s\S*$/);
  if (space > 0) return space;
  return /[\ud800-\udbff]$/.test(head) ? head.length - 1 : head.length; // do not split a surrogate pair
}

/** A document's source with these texts. */
export function sourceFrom(texts: readonly ChunkText[], document: StoredDocument, dataset: Dataset): Source {
  const place = { id: "", position: 1, time: 0, by: document.row.created_by ?? null };
  return texts.map((text) => {
    const row = newChunk(document.row, text, isHighQuality(dataset), place);
    return { row, children: automaticChildren(row, document, dataset, 0) };
  });
}

/** The process rule of a document, with another size of chunks. */
export function ruleWith({ details }: StoredDocument, max_tokens: number): Details {
  const rule = details?.document_process_rule;
  const { rules, ...rest } = isMapping(rule) ? rule : {};
  const { segmentation, ...others } = isMapping(rules) ? rules : {};
  const cut = { ...(isMapping(segmentation) ? segmentation : {}), max_tokens };
  return { document_process_rule: { ...rest, mode: "custom", rules: { ...others, segmentation: cut } } };
}
