import { createHmac, randomBytes } from "node:crypto";
import type { Listed } from "./knowledge.js";
import type { Attachment } from "./rows.js";

/** A link and the question mark after it, which the signature replaces; the rest of its query becomes plain text. */
const fileLink = /(\/files\/[0-9a-f-]+\/(?:file|image)-preview)\??/g;
const secret = randomBytes(32);

/**
 * The chunk for an answer at `now`, in Unix seconds: links to files in `sign_content` and in attachments get a fresh signature
 * (`timestamp`, `nonce`, `sign`). The content itself, and chunks without links, stay unchanged.
 */
export function signChunk(chunk: Listed, now: number): Listed {
  const { sign_content, attachments } = chunk;
  const signed = (file: Attachment) => ({ ...file, source_url: signLinks(file.source_url, now) });
  return {
    ...chunk,
    ...(typeof sign_content === "string" && { sign_content: signLinks(sign_content, now) }),
    ...(Array.isArray(attachments) && { attachments: attachments.map(signed) }),
  };
}

/** Inserts the signature right after the path, whatever follows: `…/image-previewtail` becomes `…/image-preview?timestamp=…=tail`. */
function signLinks(text: string, now: number): string {
  return text.replace(fileLink, (_link, path: string) => {
    const timestamp = String(Math.floor(now));
    const nonce = randomBytes(16).toString("hex");
    return `${path}?timestamp=${timestamp}&nonce=${nonce}&sign=${signOf(path, timestamp, nonce)}`;
  });
}

/** The signature of a path. Links of this process are not valid in another. */
export function signOf(path: string, timestamp: string, nonce: string): string {
  return `${createHmac("sha256", secret).update(`${path}|${timestamp}|${nonce}`).digest("base64url")}=`;
}
