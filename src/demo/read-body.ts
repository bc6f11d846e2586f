import type { IncomingMessage } from "node:http";
import { invalidParam, Refusal } from "./refusal.js";

/** Bytes of the largest body that is read. */
const most = 16_000_000;

/** The JSON value of a body. Throws a 400 for anything else, and a 413 for a body that is too large, whose rest is read and dropped. */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  return parseJson((await readBytes(request)).toString());
}

/** The fields and files of a body that is multipart/form-data. The same. */
export async function readForm(request: IncomingMessage): Promise<FormData> {
  const body = await readBytes(request);
  const headers = { "content-type": request.headers["content-type"] ?? "" };
  return new Response(body, { headers }).formData().catch(() => {
    throw invalidParam("The body is no multipart/form-data.");
  });
}

/** The value of a JSON text. Throws a 400 for anything else. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidParam("The body is no JSON.");
  }
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request) {
    size += piece.length;
    if (size <= most) pieces.push(piece);
  }
  if (size > most) throw new Refusal(413, "request_entity_too_large", `The body is larger than ${most} bytes.`);
  return Buffer.concat(pieces);
}
