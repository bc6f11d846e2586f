import type { ServerResponse } from "node:http";
import { brotliCompressSync, constants, deflateSync, gzipSync } from "node:zlib";
import type { Answer } from "./answer.js";
import type { Behaviour } from "./behaviour.js";
import { jsonText, signedAgain } from "./json.js";

/** An answer as bytes. */
export interface Payload {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

function compressed(bytes: Buffer, encoding: string): Buffer {
  if (encoding === "br") return brotliCompressSync(bytes, quality);
  return encoding === "deflate" ? deflateSync(bytes) : gzipSync(bytes, { level: 1 });
}

/** The encoding for an answer: the one that the behaviour asks for, if the client accepts it. */
export function encodingFor(accepted: string, behaviour: Behaviour): string | undefined {
  if (!behaviour.gzip) return undefined;
  const encoding = behaviour.gzip === true ? "gzip" : behaviour.gzip;
  const names = accepted.split(",").map((name) => name.split(";")[0]?.trim().toLowerCase());
  return names.includes(encoding) || names.includes("*") ? encoding : undefined;
}

/** The bytes of an answer, compressed if an encoding is given. */
export function payloadOf(answer: Answer, behaviour: Behaviour, encoding?: string): Payload {
  const { status, headers = {}, json, html } = answer;
  if (json === undefined && html === undefined) return { status, headers, bytes: Buffer.alloc(0) };
  const text = json === undefined ? (html ?? "") : jsonText(json);
  const plain = Buffer.from(behaviour.resign === false ? text : signedAgain(text));
  const type = { "content-type": json === undefined ? "text/html; charset=utf-8" : "application/json" };
  if (encoding === undefined) return { status, headers: { ...type, ...headers }, bytes: plain };
  const encoded = { ...type, "content-encoding": encoding, vary: "accept-encoding" };
  return { status, headers: { ...encoded, ...headers }, bytes: compressed(plain, encoding) };
}

const chunkSize = 4_093;

/** Sends a payload with content-length or, if `chunked`, in pieces that split characters. */
export function sendPayload(response: ServerResponse, { status, headers, bytes }: Payload, chunked = false): void {
  if (!chunked || bytes.length === 0) {
    response.writeHead(status, { ...headers, "content-length": String(bytes.length) });
    response.end(bytes);
    return;
  }
  response.writeHead(status, headers);
  for (let at = 0; at < bytes.length; at += chunkSize) response.write(bytes.subarray(at, at + chunkSize));
  response.end();
}
