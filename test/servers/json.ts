import { randomBytes } from "node:crypto";

/** The server's data: plain JSON. As in real deployments, every field is optional and may have any type. */
export type Json = null | boolean | number | string | Json[] | JsonObject;

export interface JsonObject {
  [field: string]: Json;
}

export interface ChildRecord extends JsonObject {
  id: string;
}

export interface ChunkRecord extends JsonObject {
  id: string;
}

export interface StatusEntry extends JsonObject {
  id: string;
}

const rawMark = "\u0000number:";
const rawInText = /"\\u0000number:([^"\\]*)\\u0000"/g;

/** A number that is sent exactly as written, such as `1741267200.0`, `0.10` or `12345678901234567890`. */
export function rawNumber(text: string): string {
  return `${rawMark}${text}\u0000`;
}

/** The JSON text of a body, including its raw numbers. */
export function jsonText(body: Json): string {
  const text = JSON.stringify(body);
  return text.includes("\\u0000number:") ? text.replace(rawInText, "$1") : text;
}

/** The signature format of real servers. Text may follow directly after it. */
const signature = /timestamp=\d{10}&nonce=[0-9a-f]{32}&sign=[\w-]{43}=/g;

/** The same text with a new signature in every link to a file. Real servers do this at every read. */
export function signedAgain(text: string): string {
  if (!text.includes("-preview?timestamp=")) return text;
  const seconds = Math.floor(Date.now() / 1000);
  return text.replace(signature, () => {
    const nonce = randomBytes(16).toString("hex");
    return `timestamp=${seconds}&nonce=${nonce}&sign=${randomBytes(32).toString("base64url")}=`;
  });
}
