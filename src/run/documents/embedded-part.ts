import { isListed, type Listed } from "../../client/check-list.js";
import { embeddedChildren } from "../../crawl/embedded-children.js";
import type { KeptChildren } from "../../crawl/embedded-source.js";
import { jsonText, parseJson } from "../../rows/exact-json.js";
import { readLines } from "../parts/read-lines.js";

/** Children that a chunk embeds, with the id of the chunk. */
export interface EmbeddedLine extends KeptChildren {
  readonly chunkId: string;
}

/**
 * Gives the embedded children of chunks as JSON lines, one for each chunk that has `least` or more. `first` is the place of the
 * first chunk.
 */
export function embeddedLines(chunks: readonly Listed[], first: number, least = 1): readonly string[] {
  return chunks.flatMap((chunk, at) => {
    const children = embeddedChildren(chunk) ?? [];
    return children.length >= least ? [jsonText([first + at, chunk.id, children])] : [];
  });
}

/** The lines of a file that `embeddedLines` filled, one after the other. No number is rounded on the way. */
export async function* readEmbedded(path: string): AsyncGenerator<EmbeddedLine> {
  for await (const line of readLines(path)) {
    const value = parseJson(line);
    const [index, chunkId, children]: unknown[] = Array.isArray(value) ? value : [];
    if (typeof index !== "number" || typeof chunkId !== "string" || !Array.isArray(children)) {
      throw new Error(`${path} holds a line that kbdump did not write`);
    }
    yield { index, chunkId, children: children.filter(isListed) };
  }
}
