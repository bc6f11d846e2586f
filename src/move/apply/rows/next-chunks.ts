/** Bytes of text in one request, about; one chunk alone may have more. */
const mostBytes = 1_000_000;

interface Texts {
  readonly content: string;
  readonly answer: string | null;
}

/** The chunks of the next request, from chunk number `next` on: `most` of them, or fewer where they are long; one at least. */
export function nextChunks<T extends Texts>(chunks: readonly T[], next: number, most: number): readonly T[] {
  const taken: T[] = [];
  let bytes = 0;
  for (let at = next; at < chunks.length && taken.length < Math.max(1, most); at++) {
    const chunk = chunks[at];
    if (!chunk) break;
    bytes += Buffer.byteLength(chunk.content) + Buffer.byteLength(chunk.answer ?? "");
    if (taken.length > 0 && bytes > mostBytes) break;
    taken.push(chunk);
  }
  return taken;
}
