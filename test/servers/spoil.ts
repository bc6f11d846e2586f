import type { ServerResponse } from "node:http";
import { pipeline, Readable } from "node:stream";
import { createGzip } from "node:zlib";
import type { Fault } from "./faults.js";
import { type Payload, sendPayload } from "./send.js";

/** Faults of bytes and connections: they damage the correct answer, or send something else or nothing. */

/** Inserts a lone Latin-1 byte into the first string in the body. */
function withLatinByte(bytes: Buffer): Buffer {
  const at = bytes.indexOf('":"') + 3;
  return Buffer.concat([bytes.subarray(0, at), Buffer.from([0xe9]), bytes.subarray(at)]);
}

function resetMidBody(response: ServerResponse, payload: Payload, chunked: boolean): void {
  const { status, headers, bytes } = payload;
  const length: Record<string, string> = chunked ? {} : { "content-length": String(bytes.length) };
  response.writeHead(status, { ...headers, ...length });
  response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => response.socket?.destroy());
}

function drip(response: ServerResponse, payload: Payload, everyMs: number): void {
  const { status, headers, bytes } = payload;
  response.writeHead(status, { ...headers, "content-length": String(bytes.length) });
  let at = 0;
  const timer = setInterval(() => {
    response.write(bytes.subarray(at, at + 1));
    at++;
    if (at >= bytes.length) response.end();
  }, everyMs);
  response.once("close", () => clearInterval(timer));
}

function endless(response: ServerResponse): void {
  const row = `{"id":"00000000-0000-4000-8000-000000000000","content":"${"endless ".repeat(8_000)}"},`;
  response.writeHead(200, { "content-type": "application/json" });
  response.write('{"data":[');
  const more = () => {
    if (response.destroyed) return;
    if (response.write(row)) setImmediate(more);
    else response.once("drain", more);
  };
  more();
}

function bomb(response: ServerResponse, size: number): void {
  const block = Buffer.alloc(2 ** 20, " ");
  function* parts() {
    yield '{"data":[';
    for (let sent = 0; sent < size; sent += block.length) yield block;
    yield '],"total":0}';
  }
  response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
  pipeline(Readable.from(parts(), { objectMode: false }), createGzip({ level: 9 }), response, () => {});
}

const spoilers: { readonly [kind in Fault["kind"]]?: (bytes: Buffer) => Buffer } = {
  "truncated-json": (bytes) => bytes.subarray(0, -Math.ceil(bytes.length / 3)),
  "invalid-json": (bytes) => Buffer.concat([bytes, Buffer.from(",NaN")]),
  "not-utf8": withLatinByte,
};

export interface RightAnswer {
  /** The answer that the client would have received. */
  readonly payload: () => Payload;
  /** The answer that the client would have received, uncompressed. */
  readonly plain: () => Payload;
  readonly chunked: boolean;
}

/** Sends an answer with the fault. Creates the correct answer only if at least part of it is sent. */
export function sendSpoiled(fault: Fault, response: ServerResponse, { payload, plain, chunked }: RightAnswer): void {
  const spoil = spoilers[fault.kind];
  if (spoil) {
    const right = plain();
    sendPayload(response, { ...right, bytes: spoil(right.bytes) }, chunked);
  } else if (fault.kind === "reset-before") {
    response.socket?.resetAndDestroy();
  } else if (fault.kind === "reset-mid-body") {
    resetMidBody(response, payload(), chunked);
  } else if (fault.kind === "drip") {
    drip(response, payload(), fault.everyMs ?? 1_000);
  } else if (fault.kind === "endless-body") {
    endless(response);
  } else if (fault.kind === "gzip-bomb") {
    bomb(response, fault.bytes ?? 256 * 2 ** 20);
  } else if (fault.kind !== "hang") {
    sendPayload(response, payload(), chunked);
  }
}
