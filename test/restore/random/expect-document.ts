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
 * there before, an added chunk where a run saw it come, and the rest stays as it is. Of equal texts, each stands for one chunk.
 */
export function expectDocument(story: Story): readonly Expected[] {
  const homes = homesOf(story);
  const standing = new Map<string, Expected>(story.target.map((chunk) => [chunk.id, chunk]));
  for (const [old, home] of homes) standing.set(home.id, restored(old, home, story));
  const added: Expected[] = [];
  const left = story.backup.filter((old) => !homes.has(old));
  const firstOf = (old: Standing) => story.first.find(({ id }) => id === old.id);
  const ofSource = left.map(firstOf).filter((chunk) => chunk !== undefined);
  const explained: Texts[] = [...homes.keys(), ...ofSource];
  const isManual = (old: Standing) => !haveSameTexts(firstOf(old) ?? { content: "", answer: null }, old);
  for (const old of left.filter(isManual).sort((one, two) => lengthOf(two) - lengthOf(one))) {
    if (timesInside(old, [...standing.values()]) > timesInside(old, explained)) explained.push(old);
    else if (firstOf(old) === undefined) added.push(restored(old, undefined, story));
  }
  return [...standing.values(), ...added];
}

/**
 * The chunk of the target that takes back each old one: that with its text, else that with the text from before its edit, if there are as
 * many of these as edits of that text; enabled ones come first.
 */
function homesOf({ first, backup, target }: Story): ReadonlyMap<Standing, Standing> {
  const homes = new Map<Standing, Standing>();
  const free = new Set(target);
  const take = (old: Standing, home: Standing | undefined) => {
    if (!home) return;
    homes.set(old, home);
    free.delete(home);
  };
  const freeWith = (texts: Texts) => [...free].filter((chunk) => haveSameTexts(chunk, texts));
  for (const old of backup) take(old, freeWith(old)[0]);
  const edits = backup.flatMap((old) => {
    const before = first.find(({ id }) => id === old.id);
    return !homes.has(old) && before && !haveSameTexts(before, old) ? [{ old, before }] : [];
  });
  for (const { before } of edits) {
    const olds = edits.filter((edit) => haveSameTexts(edit.before, before) && !homes.has(edit.old));
    const places = freeWith(before);
    const enabled = places.filter(({ isEnabled }) => isEnabled);
    const taken = enabled.length > 0 ? enabled : places;
    if (taken.length === olds.length) for (const [at, { old }] of olds.entries()) take(old, taken[at]);
  }
  return homes;
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

function lengthOf({ content, answer }: Texts): number {
  return content.length + (answer ?? "").length;
}

function timesInside(old: Texts, chunks: readonly Texts[]): number {
  const wholes = chunks.filter(({ answer }) => old.answer === null || (answer ?? "").includes(old.answer));
  return wholes.reduce((sum, { content }) => sum + content.split(old.content).length - 1, 0);
}

function isEqual(one: readonly string[], other: readonly string[]): boolean {
  return JSON.stringify([...one].sort()) === JSON.stringify([...other].sort());
}
