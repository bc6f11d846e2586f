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
 * text is found only if it occurs more often in the newer run than in the rest of the older run. So a text that a person added is lost even
 * if the source says the same, in an unchanged chunk or in one that was split elsewhere. A blank text is never found. `replaced`: texts
 * from the indexing that people replaced.
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
