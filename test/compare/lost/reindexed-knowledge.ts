import fc from "fast-check";
import type { ChildRow, ChunkRow } from "../../../src/compare/document-rows.js";
import type { DocumentHistory, FirstValues } from "./planned.js";
import { child, chunk, document, type MadeDocument } from "./rows.js";

/** A source chunk, the manual edits on it, and what the re-index does with it. */
const fates = fc.record({
  edit: fc.boolean(),
  /** Whether the history contains the edits. */
  known: fc.boolean(),
  author: fc.boolean(),
  disable: fc.boolean(),
  keywords: fc.boolean(),
  childEdit: fc.boolean(),
  childAdd: fc.boolean(),
  fate: fc.constantFrom("kept", "kept", "kept", "dropped", "changed", "merged", "split"),
  /** Whether a person disables the new chunk before the restore. */
  disabledSince: fc.nat({ max: 9 }).map((number) => number === 0),
});

/** A chunk that a person added; `known` if the history contains it. */
const additions = fc.record({ known: fc.boolean(), disable: fc.boolean(), children: fc.boolean() });

/** One document before and after a re-index, and the history of its manual edits. */
export interface Reindexed {
  readonly old: MadeDocument;
  readonly history: DocumentHistory;
  readonly target: MadeDocument;
}

/** `texts`: `few` chooses from a few texts, so that some repeat or contain each other. */
export function reindexedDocuments(texts: "unique" | "few"): fc.Arbitrary<Reindexed> {
  const text = texts === "few" ? fc.constantFrom("a", "b", "c", "ab", "a b", " ") : fc.constant(undefined);
  const chosen = fc.array(text, { minLength: 80, maxLength: 80 });
  const parts = {
    sources: fc.array(fates, { minLength: 1, maxLength: 7 }),
    added: fc.array(additions, { maxLength: 3 }),
    chosen,
  };
  return fc.record(parts).map(({ sources, added, chosen }) => {
    let used = 0;
    // The brackets keep a unique text from being part of another.
    const nextText = (what: string) => chosen[used++] ?? `<${what} ${used}>`;
    const made = sources.map((source, index) => reindex(source, index + 1, nextText));
    const extra = added.map((each, index) => addition(each, 50 + index, nextText));
    const first = made.map(({ first }) => first);
    return {
      old: document(
        [...made.map(({ old }) => old), ...extra.map(({ old }) => old)],
        [...made, ...extra].flatMap(({ olds }) => olds),
      ),
      target: document(
        made.flatMap(({ now }) => now),
        made.flatMap(({ nows }) => nows),
      ),
      history: {
        chunks: new Map(first.flatMap((values, index) => (values ? [[`c${index + 1}`, values] as const] : []))),
        children: new Map(made.flatMap(({ firstChild }) => (firstChild ? [firstChild] : []))),
        added: new Set(extra.flatMap(({ old }, index) => (added[index]?.known ? [old.id] : []))),
      },
    };
  });
}

type Fate = typeof fates extends fc.Arbitrary<infer Value> ? Value : never;

function reindex(source: Fate, at: number, nextText: (what: string) => string) {
  const [id, content] = [`c${at}`, nextText("source")];
  const edited = source.edit ? nextText("edited") : content;
  const off = source.disable ? { enabled: false, disabled_by: source.author ? "ann" : null } : {};
  const keys = source.keywords ? ["mine"] : ["machine"];
  const old = chunk(id, edited, { ...off, keywords: keys, updated_by: source.edit && source.author ? "ann" : null });
  const values: FirstValues = {
    ...(source.edit ? { content } : {}),
    ...(source.keywords ? { keywords: ["machine"] } : {}),
    ...(source.disable ? { enabled: true } : {}),
  };
  const [below, mine] = [nextText("child"), nextText("my child")];
  const olds = [
    child(id, `${id}k1`, source.childEdit ? mine : below, source.childEdit ? "customized" : "automatic"),
    ...(source.childAdd ? [child(id, `${id}k2`, nextText("my new child"), "customized")] : []),
  ];
  const firstChild = source.known && source.childEdit ? ([`${id}k1`, below] as const) : undefined;
  const now = targetChunks(source, at, content, nextText);
  const nows: readonly ChildRow[] = source.fate === "kept" ? [child(`t${at}0`, `u${at}`, below)] : [];
  return { old, olds, first: source.known ? values : undefined, firstChild, now, nows };
}

function targetChunks(
  { fate, disabledSince }: Fate,
  at: number,
  content: string,
  nextText: (what: string) => string,
): readonly ChunkRow[] {
  const made = (part: number, text: string) =>
    chunk(`t${at}${part}`, text, { keywords: ["machine"], enabled: !disabledSince });
  switch (fate) {
    case "kept":
      return [made(0, content)];
    case "dropped":
      return [];
    case "changed":
      return [made(0, nextText("changed"))];
    case "merged":
      return [made(0, `${content}\n${nextText("neighbour")}`)];
    case "split":
      return [made(0, content.slice(0, 3)), made(1, content.slice(3))];
  }
}

function addition(
  { disable, children }: { disable: boolean; children: boolean },
  at: number,
  nextText: (what: string) => string,
) {
  const id = `c${at}`;
  const off = disable ? { enabled: false, disabled_by: "ann" } : {};
  const old = chunk(id, nextText("added"), { ...off, created_at: 5_000 });
  return { old, olds: children ? [child(id, `${id}k1`, nextText("my child"), "customized")] : [] };
}
