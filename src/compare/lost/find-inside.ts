/** The text of a chunk: content and answer. The answer is null except in qa_model documents. */
export interface Text {
  readonly content: string;
  readonly answer: string | null;
}

/** A lost text that a person wrote. */
export interface LostText extends Text {
  readonly id: string;
  /** How often it occurs in chunks of the newer run, except chunks that an edit replaces. */
  readonly now: number;
  /** How often it occurred in chunks of the older run, except lost and replaced texts. */
  readonly before: number;
}

/**
 * The ids of the lost texts that occur inside a chunk of the newer run: the content inside the content, the answer inside the answer. A
 * text counts as found only if the newer run has it more often than the rest of the older run. Otherwise a text that a person added would
 * count as found just because an unchanged or re-split chunk of the source has the same words. A blank text is never found.
 * `replaced`: texts from the indexing that people replaced.
 */
export function findInside(lost: readonly LostText[], replaced: readonly Text[]): ReadonlySet<string> {
  const rest = [...replaced];
  const found = new Set<string>();
  for (const text of lost.toSorted((one, other) => lengthOf(other) - lengthOf(one))) {
    const known = text.before + rest.reduce((sum, whole) => sum + timesInside(text, whole), 0);
    if (text.content.trim() === "" || text.now <= known) continue;
    found.add(text.id);
    rest.push(text);
  }
  return found;
}

function lengthOf({ content, answer }: Text): number {
  return content.length + (answer ?? "").length;
}

function timesInside({ content, answer }: Text, whole: Text): number {
  const times = whole.content.split(content).length - 1;
  return (whole.answer ?? "").includes(answer ?? "") ? times : 0;
}
