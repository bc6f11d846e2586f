import type { Turn } from "./knowledge-api.js";

/** Bytes of bodies that are worked on in one turn of the event loop; one that is larger has a turn of its own. */
const bytesPerTurn = 65_536;

/**
 * Bodies are worked on a few per turn of the event loop, in the order in which they came, and only once all sockets were
 * served: an answer that waits to be read holds its place in flight, and one that is in does not. There is no work in a turn in which another
 * body came: undici sends the next request of a connection in the turn after that, and would wait for the work.
 */
export function takingTurns(): Turn {
  const waiting: { readonly bytes: number; readonly begin: () => void }[] = [];
  let isNew = false;
  const serve = () => {
    if (isNew) {
      isNew = false;
      setImmediate(serve);
      return;
    }
    for (let bytes = 0, next = waiting.shift(); next; next = waiting.shift()) {
      next.begin();
      bytes += next.bytes;
      if (bytes + (waiting[0]?.bytes ?? 0) > bytesPerTurn) break;
    }
    if (waiting.length > 0) setImmediate(serve);
  };
  return async (bytes, work) => {
    await new Promise<void>((begin) => {
      waiting.push({ bytes, begin });
      isNew = true;
      if (waiting.length === 1) setImmediate(serve);
    });
    return work();
  };
}
