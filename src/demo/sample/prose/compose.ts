import { pick, type Random, wholeFrom } from "../random.js";
import type { Language, Topic } from "./language.js";

const secondHalf = /[\udc00-\udfff]/g;

/** How many characters (code points, not UTF-16 units) a text has; this is what the service calls its word count. */
export function characters(text: string): number {
  return text.length - (text.match(secondHalf)?.length ?? 0);
}

/** So many sentences about the topic. */
export function sentences(random: Random, language: Language, topic: Topic, count: number): readonly string[] {
  return Array.from({ length: count }, () => sentence(random, language, topic));
}

/** Sentences as one text, with what the language puts between them. */
export function paragraph(language: Language, parts: readonly string[]): string {
  return parts.join(language.space);
}

/** A question to the support. */
export function question(random: Random, language: Language): string {
  return withNumbers(random, pick(random, language.questions));
}

/** Two or three different keywords of the topic. */
export function keywords(random: Random, language: Language, topic: Topic): readonly string[] {
  const all = language.keywords[topic];
  const count = wholeFrom(random, 2, 3);
  const first = wholeFrom(random, 0, all.length - count);
  return all.slice(first, first + count);
}

function sentence(random: Random, { sentences, space }: Language, topic: Topic): string {
  const [firsts, seconds, thirds] = sentences[topic];
  const third = pick(random, thirds);
  const gap = third.startsWith(",") ? "" : space;
  return withNumbers(random, `${pick(random, firsts)}${space}${pick(random, seconds)}${gap}${third}`);
}

function withNumbers(random: Random, text: string): string {
  return text.includes("{n}") ? text.replaceAll("{n}", () => String(wholeFrom(random, 12, 90))) : text;
}
