import type { HtmlValue } from "../page/html.js";
import type { Tone } from "../page/table.js";

/** A part of the page: a question about the run, its answer, and the details. */
export interface Section {
  /** The anchor in the page. */
  readonly id: string;
  readonly title: string;
  readonly tone: Tone;
  /** The answer in a sentence or two. */
  readonly lead: HtmlValue;
  /** The details. Null: there are none, and only the first screen shows the answer. */
  readonly body: Exclude<HtmlValue, undefined>;
  /** Whether you need to act. Such sections come first, unfolded. */
  readonly needsAction: boolean;
  /** The next step: a sentence and a command. */
  readonly next?: Next | undefined;
}

export interface Next {
  readonly text: string;
  readonly command: string;
}

/** The answer to a question on the first screen. */
export interface Answer {
  readonly question: string;
  /** The answer in a word or two. */
  readonly short: string;
  readonly tone: Tone;
  readonly lead: HtmlValue;
}

/** A section that answers a question on the first screen. */
export type Answered = Section & Answer;

/** Joins sentences with spaces, without the empty ones. */
export function sentences(...all: readonly HtmlValue[]): HtmlValue {
  return all.filter((text) => text).map((text, at) => [at > 0 && " ", text]);
}
