import type { HtmlValue } from "../page/html.js";
import type { Tone } from "../page/table.js";

/** A part of the page: a question about the run, its answer, and the details. */
export interface Section {
  /** The anchor in the page. */
  readonly id: string;
  readonly title: string;
  /** The answer in a sentence or two. */
  readonly lead: HtmlValue;
  /** The details. Null: there are none, and only the first screen shows the answer. */
  readonly body: Exclude<HtmlValue, undefined>;
  /** Whether you need to act. Such sections come first, unfolded. */
  readonly needsAction?: boolean;
  /** The next step: a sentence and a command. */
  readonly next?: { readonly text: string; readonly command: string } | undefined;
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

/** Joins sentences with spaces, without the empty ones. */
export function sentences(...all: readonly HtmlValue[]): HtmlValue {
  return all.filter((text) => text).map((text, at) => [at > 0 && " ", text]);
}

/** Counts in words, such as `3 failed`, without those of 0. */
export function withoutZero(...counts: readonly string[]): readonly string[] {
  return counts.filter((count) => !count.startsWith("0 "));
}
