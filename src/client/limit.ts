import pLimit from "p-limit";
import type { Send } from "./send.js";

/** Lets at most `concurrency` requests be in flight; the others wait in order. The slot is free when the body is in. */
export function limited(send: Send, concurrency: number): Send {
  const limit = pLimit(concurrency);
  return (request) => limit(send, request);
}
