import type { Readable } from "node:stream";

/** Bytes that may wait to be taken; more are left to the connection. */
const mostWaiting = 1 << 20;

/**
 * Gives the pieces of a body one after the other, then undefined. It listens from the start: a stream forgets what nobody has
 * taken when its connection breaks, and a file whose announced length is wrong would be lost that way, although all of it came.
 */
export function takePieces(body: Readable): () => Promise<Uint8Array | undefined> {
  const waiting: Uint8Array[] = [];
  let size = 0;
  let ending: { readonly error: unknown } | undefined;
  let wake = () => {};
  const endWith = (error: unknown) => {
    ending ??= { error };
    wake();
  };
  body.on("data", (piece: Uint8Array) => {
    waiting.push(piece);
    size += piece.length;
    if (size > mostWaiting) body.pause();
    wake();
  });
  body.on("end", () => endWith(undefined));
  body.on("error", endWith);
  body.on("close", () => endWith(new Error("the connection was closed")));
  return async () => {
    for (;;) {
      const piece = waiting.shift();
      if (piece) {
        size -= piece.length;
        if (size <= mostWaiting) body.resume();
        return piece;
      }
      if (ending?.error !== undefined) throw ending.error;
      if (ending) return undefined;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
}
