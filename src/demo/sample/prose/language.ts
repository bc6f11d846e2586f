export type Topic = "product" | "policy" | "support";

/** Beginnings, middles and ends of sentences, to be combined freely. `{n}` becomes a number. */
export type Fragments = readonly [readonly string[], readonly string[], readonly string[]];

/** The material for sentences of one language. */
export interface Language {
  /** BCP 47. */
  readonly tag: string;
  /** The separator of words and sentences. */
  readonly space: string;
  readonly sentences: Readonly<Record<Topic, Fragments>>;
  readonly keywords: Readonly<Record<Topic, readonly string[]>>;
  /** Questions to the support; `{n}` is a number. */
  readonly questions: readonly string[];
}
