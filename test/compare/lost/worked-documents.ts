import fc from "fast-check";
import type { Row } from "../../../src/rows/row.js";
import * as rows from "../../database/job-database.js";
import type { DocumentHistory, FirstValues } from "./planned.js";

/** A chunk in the service, with its only child chunk. */
interface Held {
  readonly id: string;
  readonly content: string;
  readonly keywords: readonly string[] | null;
  readonly enabled: boolean;
  readonly child: string;
  readonly created_at: string;
}

const works = ["edit", "keywords", "switch", "child", "add", "delete", "reindex", "nothing"] as const;
const work = fc.tuple(fc.constantFrom(...works), fc.nat({ max: 3 }), fc.constantFrom("one", "two", "", "\ufeffthree"));
const night = fc.record({
  work: fc.array(work, { maxLength: 3 }),
  read: fc.nat({ max: 4 }).map((number) => number > 0),
});

/** For each night of one document: what people and the indexer did, and whether the run could read it. */
export const nights = fc.array(night, { minLength: 4, maxLength: 4 });
export type Nights = typeof nights extends fc.Arbitrary<infer Value> ? Value : never;

export const startOf = (run: number) => `2025-03-06T${String(run + 10)}:00:00.000Z`;
/** Half an hour before a run: when people work on the document. */
const dayBefore = (run: number) => `2025-03-06T${String(run + 9)}:30:00Z`;

/** The chunks of a document at each run; undefined if the run could not read it. */
export function readings(document: string, all: Nights): readonly (readonly Held[] | undefined)[] {
  let ids = 0;
  const fresh = (content: string, run: number): Held => {
    const id = `${document}-${++ids}`;
    return { id, content, keywords: null, enabled: true, child: "child", created_at: dayBefore(run) };
  };
  let held: readonly Held[] = [fresh("one", 0), fresh("two", 0)];
  return all.map(({ work, read }, run) => {
    for (const [what, at, text] of work) {
      const chosen = held[at % Math.max(1, held.length)];
      const change = (more: Partial<Held>) => held.map((each) => (each === chosen ? { ...each, ...more } : each));
      if (what === "edit") held = change({ content: text });
      if (what === "keywords") held = change({ keywords: text === "" ? null : [text, "k"] });
      if (what === "switch") held = change({ enabled: !chosen?.enabled });
      if (what === "child") held = change({ child: text });
      if (what === "add") held = [...held, fresh(text, run)];
      if (what === "delete") held = held.filter((each) => each !== chosen);
      if (what === "reindex") held = held.map(({ content }) => fresh(content, run));
    }
    return read ? held : undefined;
  });
}

/** The rows that a run reads from a document. */
export function rowsOf(
  document: string,
  held: readonly Held[],
): { readonly chunks: readonly Row[]; readonly children: readonly Row[] } {
  return {
    chunks: held.map(({ id, child: _child, ...more }, at) =>
      rows.chunk(document, id, { ...more, position: at + 1, status: "completed" }),
    ),
    children: held.map(({ id, child }) => ({ ...rows.child(document, id, `${id}-child`), content: child })),
  };
}

/**
 * The history that follows from these readings: the first value of each field that changed, and the chunks that appeared
 * beside older ones.
 */
export function historyFrom(seen: readonly (readonly Held[] | undefined)[]): DocumentHistory {
  const good = seen.filter((each) => each !== undefined);
  const now = good.at(-1) ?? [];
  const came = (id: string) => good.findIndex((each) => each.some((held) => held.id === id));
  const firstOf = <T>(id: string, take: (held: Held) => T): readonly [T] | undefined => {
    const values = good.flatMap((each) => each.filter((held) => held.id === id).map(take));
    const [first] = values;
    return first !== undefined && new Set(values.map((value) => JSON.stringify(value))).size > 1 ? [first] : undefined;
  };
  const chunks = now.flatMap(({ id }) => {
    const [content, keywords, enabled] = [
      firstOf(id, (h) => h.content),
      firstOf(id, (h) => h.keywords),
      firstOf(id, (h) => h.enabled),
    ];
    const values: FirstValues = {
      ...(content ? { content: content[0] } : {}),
      ...(keywords ? { keywords: keywords[0] } : {}),
      ...(enabled ? { enabled: enabled[0] } : {}),
    };
    return Object.keys(values).length > 0 ? [[id, values] as const] : [];
  });
  const children = now.flatMap(
    ({ id }) => firstOf(id, (held) => held.child)?.map((first) => [`${id}-child`, first] as const) ?? [],
  );
  const oldest = Math.min(...now.map(({ id }) => came(id)));
  const added = now.filter(({ id }) => came(id) > oldest).map(({ id }) => id);
  return { chunks: new Map(chunks), children: new Map(children), added: new Set(added) };
}
