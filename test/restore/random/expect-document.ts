import type { Standing, StandingChild, Texts } from "./knowledge-base.js";

/** The states of a document that say what a restore has to do. */
export interface Story {
  /** At the first run: from then on, the history knows what stood there before an edit. */
  readonly first: readonly Standing[];
  /** At the run that is restored from. */
  readonly backup: readonly Standing[];
  /** Right before the restore. */
  readonly target: readonly Standing[];
}

type ExpectedChild = Pick<StandingChild, "content" | "isCustomized">;

/** A chunk as it has to stand: without ids, which the service gives to what is added. */
export interface Expected extends Texts {
  readonly isEnabled: boolean;
  /** Null: the service may choose them. */
  readonly keywords: readonly string[] | null;
  readonly children: readonly ExpectedChild[];
}

/**
 * Says how the document has to stand after a restore, by the rule of evidence: an edit comes back where the target says what stood
 * there before, an added chunk where a run saw it come, and the rest stays as it is. No two texts are equal, so that a text says
 * which chunk is meant.
 */
export function expectDocument(story: Story): readonly Expected[] {
  const standing = new Map<string, Expected>(story.target.map((chunk) => [chunk.id, chunk]));
  const added: Expected[] = [];
  for (const old of story.backup) {
    const home = homeOf(old, story);
    if (home === "new") added.push(restored(old, undefined, story));
    else if (home) standing.set(home.id, restored(old, home, story));
  }
  return [...standing.values(), ...added];
}

/** The chunk of the target that takes back an old one; `new`: one is added; undefined: nothing is written. */
function homeOf(old: Standing, { first, target }: Story): Standing | "new" | undefined {
  const same = target.find((chunk) => haveSameTexts(chunk, old));
  if (same) return same;
  const before = first.find(({ id }) => id === old.id);
  const base = before && !haveSameTexts(before, old) && target.find((chunk) => haveSameTexts(chunk, before));
  if (base) return base;
  if (before || target.some((chunk) => isInside(old, chunk))) return undefined;
  return old.isEnabled ? "new" : undefined;
}

function restored(old: Standing, home: Standing | undefined, { first }: Story): Expected {
  const before = first.find(({ id }) => id === old.id);
  const isWritten = home === undefined || !haveSameTexts(home, old);
  const areKeywordsEdited = before !== undefined && !isEqual(before.keywords, old.keywords);
  const areOld = (isWritten || areKeywordsEdited) && old.keywords.length > 0;
  return {
    content: old.content,
    answer: old.answer,
    isEnabled: old.isEnabled,
    keywords: areOld ? old.keywords : isWritten ? null : (home?.keywords ?? null),
    children: childrenOf(old, home?.children ?? [], before?.children ?? []),
  };
}

/** Children that people made or edited take the places of their twins, or come last. */
function childrenOf(
  old: Standing,
  home: readonly StandingChild[],
  before: readonly StandingChild[],
): readonly ExpectedChild[] {
  const children: ExpectedChild[] = [...home];
  for (const child of old.children.filter(({ isCustomized }) => isCustomized)) {
    if (children.some(({ content }) => content === child.content)) continue;
    const base = before.find(({ id }) => id === child.id)?.content;
    const twin = children.findIndex(({ content, isCustomized }) => content === base && !isCustomized);
    if (twin < 0) children.push(child);
    else children[twin] = child;
  }
  return children;
}

export function haveSameTexts(one: Texts, other: Texts): boolean {
  return one.content === other.content && one.answer === other.answer;
}

function isInside(old: Texts, chunk: Texts): boolean {
  return chunk.content.includes(old.content) && (old.answer === null || (chunk.answer ?? "").includes(old.answer));
}

function isEqual(one: readonly string[], other: readonly string[]): boolean {
  return JSON.stringify([...one].sort()) === JSON.stringify([...other].sort());
}
