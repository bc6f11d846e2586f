import { randomBytes } from "node:crypto";

/** The data of the server: plain JSON, every field optional and of any type, as in real deployments. */
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

/** A number that is sent exactly as written, e.g. `1741267200.0`, `0.10` or `12345678901234567890`. */
export function rawNumber(text: string): string {
  return `${rawMark}${text}\u0000`;
}

/** The JSON text of a body, with the raw numbers in place. */
export function jsonText(body: Json): string {
  const text = JSON.stringify(body);
  return text.includes("\\u0000number:") ? text.replace(rawInText, "$1") : text;
}

/** The exact form of real servers: text may follow at once. */
const signature = /timestamp=\d{10}&nonce=[0-9a-f]{32}&sign=[\w-]{43}=/g;

/** The same text with every link to a file signed anew, as real servers do at every read. */
export function signedAnew(text: string): string {
  if (!text.includes("-preview?timestamp=")) return text;
  const seconds = Math.floor(Date.now() / 1000);
  return text.replace(signature, () => {
    const nonce = randomBytes(16).toString("hex");
    return `timestamp=${seconds}&nonce=${nonce}&sign=${randomBytes(32).toString("base64url")}=`;
  });
}
