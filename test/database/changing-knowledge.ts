import fc from "fast-check";
import type { Row } from "../../src/rows/row.js";
import { dataset } from "./job-database.js";

/** A chunk with its children, as in the service. */
interface Held {
  readonly row: Row;
  readonly children: readonly Row[];
}

/** The documents by id. */
export type Knowledge = ReadonlyMap<string, readonly Held[]>;

/** An edit of one document between two runs; the numbers choose a chunk, a field or a text. */
type Edit = readonly [what: (typeof whats)[number], document: string, at: number, text: number];

const whats = ["edit", "delete", "insert", "swap", "reindex", "hit", "field", "child", "childField", "empty"] as const;
const documents = ["a", "b", "c"];
const few = fc.nat({ max: 4 });
export const edits = fc.array(fc.tuple(fc.constantFrom(...whats), fc.constantFrom(...documents), few, few), {
  maxLength: 5,
});

/** The result of each document in one run; `back` first restores the service to its original state. */
export const outcomes = fc.record(
  Object.fromEntries(
    documents.map((id) => [
      id,
      fc.constantFrom("complete", "complete", "complete", "complete", "failed", "unstable", "absent"),
    ]),
  ),
);

let count = 0;
const newId = (what: string) => `${what}${++count}`;
const texts = ["one", "two", "", "one", 'it\'s "three"\n'];
const otherFields: readonly ((text: number) => Partial<Record<string, unknown>>)[] = [
  (text) => ({ enabled: text % 2 === 0, disabled_at: text % 2 ? "2025-03-06T13:20:00.250Z" : null }),
  (text) => ({ keywords: text === 0 ? null : ["k", texts[text]] }),
  (text) => ({ status: text % 2 ? "error" : "completed", error: text % 2 ? { code: text } : null }),
  (text) => ({ summary: texts[text], extra: text ? { more: [text, 0.1] } : null, attachments: [{ id: text }] }),
  (text) => ({ answer: text === 0 ? null : texts[text] }),
];

function newChunk(document_id: string, position: number, text: number): Held {
  const id = newId("chunk");
  const place = { dataset_id: dataset, document_id };
  const row = { ...place, id, position, content: texts[text], index_node_id: newId("node"), hit_count: text };
  const children = Array.from({ length: text % 3 }, (_each, at) => newChild(document_id, id, at + 1, at));
  return { row: { ...row, enabled: true, created_at: "2025-03-06T13:20:00Z", sign_content: texts[text] }, children };
}

function newChild(document_id: string, segment_id: string, position: number, text: number): Row {
  const id = newId("child");
  return { dataset_id: dataset, document_id, segment_id, id, position, content: texts[text], type: "automatic" };
}

export const firstKnowledge = (): Knowledge =>
  new Map(documents.map((id, at) => [id, [1, 2, 3].map((each) => newChunk(id, each, (each * at) % 5))]));

/** The knowledge base after an edit. */
export function edited(knowledge: Knowledge, [what, document, at, text]: Edit): Knowledge {
  const chunks = knowledge.get(document) ?? [];
  const chosen = chunks[at % Math.max(1, chunks.length)];
  const numbered = (list: readonly Held[]) =>
    list.map((held, index) => ({ ...held, row: { ...held.row, position: index + 1 } }));
  const change = (held: Partial<Held>) =>
    chunks.map((each) => (each === chosen && chosen ? { ...chosen, ...held } : each));
  const field = (fields: object) => change({ row: { ...chosen?.row, ...fields } });
  const children = chosen?.children ?? [];
  const id = String(chosen?.row.id);
  const results: Readonly<Record<Edit[0], () => readonly Held[]>> = {
    edit: () => field({ content: texts[text], sign_content: texts[text], updated_at: "2025-03-07T13:20:00Z" }),
    delete: () => chunks.filter((each) => each !== chosen),
    insert: () => numbered(chunks.toSpliced(at, 0, newChunk(document, at, text))),
    swap: () => numbered(chunks.toSorted((a, b) => Number(b === chosen) - Number(a === chosen))),
    reindex: () => chunks.map((held, index) => reindexed(held, index + 1)),
    hit: () => field({ hit_count: Number(chosen?.row.hit_count) + text }),
    field: () => field(otherFields[at]?.(text) ?? {}),
    child: () =>
      change({
        children: text % 2 ? children.slice(1) : [...children, newChild(document, id, children.length + 1, text)],
      }),
    childField: () =>
      change({
        children: children.map((row) => ({ ...row, content: texts[text], type: text ? "customized" : "automatic" })),
      }),
    empty: () => [],
  };
  return chosen || what === "insert" ? new Map([...knowledge, [document, results[what]()]]) : knowledge;
}

function reindexed({ row, children }: Held, position: number): Held {
  const id = newId("chunk");
  return {
    row: { ...row, id, position, index_node_id: newId("node"), hit_count: 0 },
    children: children.map((child, at) => ({ ...child, ...{ id: newId("child"), segment_id: id, position: at + 1 } })),
  };
}

export const chunksOf = (knowledge: Knowledge): readonly Row[] => [...knowledge.values()].flat().map(({ row }) => row);
export const childrenOf = (knowledge: Knowledge): readonly Row[] =>
  [...knowledge.values()].flat().flatMap(({ children }) => children);
