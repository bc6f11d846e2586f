import type { Standing, StandingChild, Texts } from "./knowledge-base.js";

/** The states of a document that determine what a restore must do. */
export interface Story {
  /** The document at the first run. The history keeps these values when later runs see edits. */
  readonly first: readonly Standing[];
  /** The document at the run that is restored. */
  readonly backup: readonly Standing[];
  /** The document just before the restore. */
  readonly target: readonly Standing[];
}

type ExpectedChild = Pick<StandingChild, "content" | "isCustomized">;

/** A chunk that the restored document must have. It has no id, because the service chooses the ids of added chunks. */
export interface Expected extends Texts {
  readonly isEnabled: boolean;
  /** Null: the service may choose any. */
  readonly keywords: readonly string[] | null;
  readonly children: readonly ExpectedChild[];
}

/**
 * The expected document after a restore, by evidence: an edit comes back where the target has the text from before the
 * edit; an added chunk, if a run saw it appear; everything else stays. Equal texts are matched one to one.
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
 * Finds the target chunk for each chunk of the backup. This is a chunk with the same text, otherwise one with the text before the
 * edit. Chunks with the text before the edit are used only if exactly as many are free as chunks were edited from that text; if any
 * of them are enabled, only those count.
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

/** The children of a restored chunk: each manual child replaces the automatic child that it was edited from, or comes last. */
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
