import type { IncomingMessage } from "node:http";
import { invalidParam, Refusal } from "./refusal.js";

/** Bytes of the largest body that is read. */
const most = 16_000_000;

/** The JSON value of a body. Throws a 400 for anything else, and a 413 for a body that is too large, whose rest is read and dropped. */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request) {
    size += piece.length;
    if (size <= most) pieces.push(piece);
  }
  if (size > most) throw new Refusal(413, "request_entity_too_large", `The body is larger than ${most} bytes.`);
  try {
    return JSON.parse(Buffer.concat(pieces).toString());
  } catch {
    throw invalidParam("The body is no JSON.");
  }
}
