import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** How far the documents are that a process leaves behind, by the names of their files. */
export interface Stored {
  readonly finished: ReadonlySet<string>;
  /** Pages of chunks and child lists that the journal says are stored. */
  readonly begun: ReadonlyMap<string, Begun>;
}

export interface Begun {
  readonly chunkPages: number;
  readonly childLists: number;
}

/** Reads the folder of the parts as the next process will find it. A power cut can leave a result torn. */
export function storedIn(parts: string): Stored {
  const names = readdirSync(parts);
  const textsOf = (end: string) => {
    const ours = names.filter((name) => name.endsWith(end));
    return ours.map((name) => [name.slice(0, -end.length), readFileSync(join(parts, name), "utf8")] as const);
  };
  const begun = textsOf(".journal").flatMap(([name, text]) => {
    const line = text.split("\n").at(-2);
    const read = line && JSON.parse(line).state.read;
    return read ? [[name, read.checkpoint] as const] : [];
  });
  const finished = textsOf(".result.json").filter(([, text]) => text.endsWith("}"));
  return { finished: new Set(finished.map(([name]) => name)), begun: new Map(begun) };
}
