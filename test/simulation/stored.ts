import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** How far the documents are that a process leaves behind, by the names of their files. */
export interface Stored {
  readonly finished: ReadonlySet<string>;
  /** Pages of chunks and child lists that the journal says are stored. */
  readonly begun: ReadonlyMap<string, { readonly chunkPages: number; readonly childLists: number }>;
}

/** What lies in the folder of the parts, as the next process will find it. */
export function storedIn(parts: string): Stored {
  const names = readdirSync(parts);
  const withEnd = (end: string) => names.filter((name) => name.endsWith(end)).map((name) => name.slice(0, -end.length));
  const begun = withEnd(".journal").flatMap((name) => {
    const line = readFileSync(join(parts, `${name}.journal`), "utf8")
      .split("\n")
      .at(-2);
    return line ? [[name, JSON.parse(line).state.checkpoint] as const] : [];
  });
  return { finished: new Set(withEnd(".result.json")), begun: new Map(begun) };
}
