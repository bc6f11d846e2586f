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
  readonly body: HtmlValue;
  /** Whether something is to be done: then it stands open, before the others. */
  readonly needsAction: boolean;
}

/** The answer to one of the questions of the first screen. */
export interface Answer {
  readonly question: string;
  /** The answer in a word or two. */
  readonly short: string;
  readonly tone: Tone;
  readonly text: HtmlValue;
}

/** What to do next: a sentence, and the command that does it. */
export interface Next {
  readonly text: string;
  readonly command: string;
}

/** The answer to one of the questions. */
export interface Answered {
  /** Undefined where there is nothing to show. */
  readonly section: Section | undefined;
  readonly answer: Answer;
  /** Undefined where nothing needs to be done. */
  readonly next: Next | undefined;
}

/** The sentences that hold, one after the other. */
export function sentences(...all: readonly HtmlValue[]): HtmlValue {
  return all.filter((text) => text).map((text, at) => [at > 0 && " ", text]);
}
