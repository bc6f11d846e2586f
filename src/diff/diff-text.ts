import { diffArrays } from "diff";
import type { TextPart } from "./run-diff.js";

/** How many tokens may differ before a coarser comparison is made, which bounds the time that one text takes. */
const mostEdits = 1_000;
/** Characters whose words are looked for at the most, beyond what both texts begin and end with; in more, white space parts them. */
const mostCharacters = 200_000;
/** Characters around a change that are shown, and of a change itself. */
const context = 60;
const longestChange = 1_000;

const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });

/**
 * Compares two texts word by word, in every script. Undefined when they are equal. Much text that is the same, and what is very
 * long, is cut; texts that have little in common are compared line by line, or told whole.
 */
export function diffText(before: string | null, after: string | null): readonly TextPart[] | undefined {
  if (before === after) return undefined;
  const [old, fresh] = [before ?? "", after ?? ""];
  const start = sameStart(old, fresh);
  const end = sameEnd(old.slice(start), fresh.slice(start));
  const middle = diffMiddle(old.slice(start, old.length - end), fresh.slice(start, fresh.length - end));
  const parts = joined([
    { kind: "same", text: old.slice(0, start) },
    ...middle,
    { kind: "same", text: old.slice(old.length - end) },
  ]);
  return parts.map((part, at) => cutPart(part, at === 0, at === parts.length - 1));
}

interface Piece {
  readonly kind: TextPart["kind"];
  readonly text: string;
}

function diffMiddle(old: string, fresh: string): readonly Piece[] {
  const whole: readonly Piece[] = [
    { kind: "removed", text: old },
    { kind: "added", text: fresh },
  ];
  const isLong = old.length + fresh.length > 2 * mostCharacters;
  const tokensOf = isLong ? phrasesOf : wordsOf;
  return pieces(tokensOf(old), tokensOf(fresh)) ?? pieces(linesOf(old), linesOf(fresh)) ?? whole;
}

/** Undefined when too much differs. */
function pieces(old: readonly string[], fresh: readonly string[]): readonly Piece[] | undefined {
  return diffArrays([...old], [...fresh], { maxEditLength: mostEdits })?.map(({ added, removed, value }) => ({
    kind: added ? "added" : removed ? "removed" : "same",
    text: value.join(""),
  }));
}

/** A word and what stands behind it, up to the next; the segmenter takes the square of the time for a text in one piece. */
const phrase = /[^\s。、，！？；：]{1,1000}[\s。、，！？；：]{0,100}|[\s。、，！？；：]{1,100}/gu;

function wordsOf(text: string): readonly string[] {
  return phrasesOf(text).flatMap((piece) => Array.from(segmenter.segment(piece), ({ segment }) => segment));
}

function phrasesOf(text: string): readonly string[] {
  return Array.from(text.matchAll(phrase), ([piece]) => piece);
}

function linesOf(text: string): readonly string[] {
  return text.split(/(?<=\n)/);
}

/** Characters that both begin with, up to a white space: no word of any script goes on behind it. */
function sameStart(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let at = 0;
  while (at < most && one.charCodeAt(at) === other.charCodeAt(at)) at++;
  while (at > 0 && !/\s/.test(one.charAt(at - 1))) at--;
  return at;
}

/** Characters that both end with, from a white space on. */
function sameEnd(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let count = 0;
  while (count < most && one.charCodeAt(one.length - 1 - count) === other.charCodeAt(other.length - 1 - count)) count++;
  while (count > 0 && !/\s/.test(one.charAt(one.length - count))) count--;
  return count;
}

/** Pieces of the same kind in a row made one, empty ones left out. */
function joined(all: readonly Piece[]): readonly Piece[] {
  const result: Piece[] = [];
  for (const piece of all) {
    const last = result.at(-1);
    if (piece.text === "") continue;
    if (last?.kind === piece.kind) result[result.length - 1] = { ...last, text: last.text + piece.text };
    else result.push(piece);
  }
  return result;
}

function cutPart({ kind, text }: Piece, isFirst: boolean, isLast: boolean): TextPart {
  const [before, after] =
    kind !== "same" ? [longestChange / 2, longestChange / 2] : [isFirst ? 0 : context, isLast ? 0 : context];
  if (text.length <= before + after + context) return { kind, text, cut: 0 };
  const head = text.slice(0, before).toWellFormed();
  const tail = after === 0 ? "" : text.slice(-after).toWellFormed();
  return { kind, text: `${head}…${tail}`, cut: text.length - before - after };
}
