import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { DocumentProgress } from "../../src/segments/document-result.js";
import { journalFile } from "../../src/segments/shared-segments.js";

/** The state of the documents that a process leaves, by the names of their files. */
export interface Stored {
  readonly finished: ReadonlySet<string>;
  /** By document: how many pages of chunks and child lists are stored, according to the journal. */
  readonly begun: ReadonlyMap<string, Begun>;
}

export interface Begun {
  readonly chunkPages: number;
  readonly childLists: number;
}

/** Reads the folder of segments as the next process will. A power cut can leave a result half-written. */
export function storedIn(segments: string): Stored {
  const names = readdirSync(segments);
  const textsOf = (end: string) => {
    const ours = names.filter((name) => name.endsWith(end));
    return ours.map((name) => [name.slice(0, -end.length), readFileSync(join(segments, name), "utf8")] as const);
  };
  const begun = textsOf(".journal").flatMap(([name, text]) => {
    const line = text.split("\n").at(-2);
    const state: DocumentProgress | undefined = line && JSON.parse(line).state;
    if (!state?.read) return [];
    const { chunks, children } = state.read.howFar;
    return [[name, { chunkPages: chunks.pages, childLists: children.chunks }] as const];
  });
  const finished = textsOf(".result.json").filter(([, text]) => text.endsWith("}"));
  return { finished: new Set([...finished.map(([name]) => name), ...sharedIn(segments)]), begun: new Map(begun) };
}

/** The documents with a complete line in the shared journal. */
function sharedIn(segments: string): readonly string[] {
  const path = join(segments, journalFile);
  const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
  return lines.filter((line) => line.endsWith("]}")).map((line) => JSON.parse(line).name);
}
