import type { HtmlValue } from "../page/html.js";
import type { Tone } from "../page/table.js";

/** A part of the page: a question about the run, its answer, and the details. */
export interface Section {
  /** The anchor. */
  readonly id: string;
  readonly title: string;
  readonly tone: Tone;
  /** The answer in a sentence or two. */
  readonly lead: HtmlValue;
  /** Null: there are no details, and only the first screen has the answer. */
  readonly body: Exclude<HtmlValue, undefined>;
  /** Whether something is to be done: then it stands open, before the others. */
  readonly needsAction: boolean;
  /** What to do next: a sentence, and the command that does it. */
  readonly next?: Next | undefined;
}

export interface Next {
  readonly text: string;
  readonly command: string;
}

/** The answer to one of the questions of the first screen. */
export interface Answer {
  readonly question: string;
  /** The answer in a word or two. */
  readonly short: string;
  readonly tone: Tone;
  readonly lead: HtmlValue;
}

/** A section that answers one of the questions of the first screen. */
export type Answered = Section & Answer;

/** The sentences that hold, one after the other. */
export function sentences(...all: readonly HtmlValue[]): HtmlValue {
  return all.filter((text) => text).map((text, at) => [at > 0 && " ", text]);
}
