import { randomBytes } from "node:crypto";
import type { Attachment, Listed } from "./knowledge.js";

const fileLink = /\/files\/[0-9a-f-]{36}\/(file|image)-preview(\?[^\s"'<>()]*)?/g;

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

/** A link's own parameters stand before the signature of a file and after that of an image: clients meet both. */
function signLinks(text: string, now: Date): string {
  return text.replace(fileLink, (link: string, kind: string, ownQuery: string | undefined) => {
    const own = ownQuery?.slice(1) ?? "";
    const path = ownQuery === undefined ? link : link.slice(0, -ownQuery.length);
    const parts = kind === "file" ? [own, signature(now)] : [signature(now), own];
    return `${path}?${parts.filter((part) => part !== "").join("&")}`;
  });
}

/** Nothing checks these: no file stands behind the links. */
function signature(now: Date): string {
  const timestamp = Math.floor(now.getTime() / 1000);
  return `timestamp=${timestamp}&nonce=${randomBytes(16).toString("hex")}&sign=${randomBytes(32).toString("base64url")}=`;
}
