/** Content and answer: the part of a chunk that is its text. The answer is null except in qa_model documents. */
export interface Text {
  readonly content: string;
  readonly answer: string | null;
}

/** A lost text of a person. */
export interface LostText extends Text {
  readonly id: string;
  /** How often it stands inside chunks of the newer run, those left out that an edit replaces. */
  readonly now: number;
  /** How often it stood inside chunks of the older run, those of lost texts and of replaced ones left out. */
  readonly before: number;
}

/**
 * The ids of the lost texts that stand inside a chunk of the newer run: the content inside the content, the answer inside the answer. A
 * text is found only if the newer run has it more often than the rest of the older run. So a text that a person added is lost even if
 * the source says the same, in a chunk that did not change or that was cut at other places. A blank text is never found. `replaced`: texts
 * of the indexing that people replaced.
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
