import { randomBytes } from "node:crypto";
import type { Attachment, Listed } from "./knowledge.js";

/** A link, and the question mark behind it, whose place the signature takes; the rest of its query becomes plain text. */
const fileLink = /(\/files\/[0-9a-f-]+\/(?:file|image)-preview)\??/g;

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
  return text.replace(fileLink, (_link, path: string) => `${path}?${signature(now)}`);
}

/** Nothing checks these: no file stands behind the links. */
function signature(now: Date): string {
  const timestamp = Math.floor(now.getTime() / 1000);
  return `timestamp=${timestamp}&nonce=${randomBytes(16).toString("hex")}&sign=${randomBytes(32).toString("base64url")}=`;
}
