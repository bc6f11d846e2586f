import { createHmac, randomBytes } from "node:crypto";
import type { Attachment, Listed } from "./knowledge.js";

/** A link, and the question mark behind it, whose place the signature takes; the rest of its query becomes plain text. */
const fileLink = /(\/files\/[0-9a-f-]+\/(?:file|image)-preview)\??/g;
/** Seconds for which a link opens its file. */
const lifetime = 300;
/** A link of this process opens no file of another. */
const secret = randomBytes(32);

/**
 * The chunk as it is answered at `now`: every link to a file in `sign_content` and in its attachments carries a fresh
 * signature (`timestamp` in Unix seconds, `nonce`, `sign`). The content itself and a chunk without links stay as they are.
 */
export function signChunk(chunk: Listed, now: Date): Listed {
  const { sign_content, attachments } = chunk;
  const hasLink = typeof sign_content === "string" && sign_content.includes("/files/");
  const files = Array.isArray(attachments) ? attachments : [];
  if (!hasLink && files.length === 0) return chunk;
  return {
    ...chunk,
    ...(hasLink && { sign_content: signLinks(sign_content, now) }),
    ...(files.length > 0 && {
      attachments: files.map((file: Attachment) => ({ ...file, source_url: signLinks(file.source_url, now) })),
    }),
  };
}

/** Right behind the path, whatever follows: `…/image-previewtail` becomes `…/image-preview?timestamp=…=tail`. */
function signLinks(text: string, now: Date): string {
  return text.replace(fileLink, (_link, path: string) => `${path}?${signature(path, now)}`);
}

/** Whether the query of a link is a signature of its path, not older than 300 s. */
export function isSigned(path: string, query: URLSearchParams, now: Date): boolean {
  const [timestamp, nonce] = [query.get("timestamp") ?? "", query.get("nonce") ?? ""];
  const age = now.getTime() / 1000 - Number(timestamp);
  return query.get("sign") === signOf(path, timestamp, nonce) && age <= lifetime;
}

function signature(path: string, now: Date): string {
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const nonce = randomBytes(16).toString("hex");
  return `timestamp=${timestamp}&nonce=${nonce}&sign=${signOf(path, timestamp, nonce)}`;
}

function signOf(path: string, timestamp: string, nonce: string): string {
  return `${createHmac("sha256", secret).update(`${path}|${timestamp}|${nonce}`).digest("base64url")}=`;
}
