import { setImmediate } from "node:timers/promises";
import type { Turn } from "./knowledge-api.js";

/** Bytes of bodies that are parsed in one turn of the event loop; one that is larger has a turn of its own. */
const bytesPerTurn = 65_536;

/** Bodies are parsed a few per turn of the event loop, so that the sockets are served between two large ones. */
export function takingTurns(): Turn {
  let left = bytesPerTurn;
  let next: Promise<unknown> = Promise.resolve();
  return async (bytes, work) => {
    left -= bytes;
    if (left < 0) {
      next = next.then(() => setImmediate());
      await next;
      left = bytesPerTurn - bytes;
    }
    return work();
  };
}
