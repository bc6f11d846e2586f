import { createHmac, randomBytes } from "node:crypto";
import type { Knowledge, Listed } from "../../../src/demo/knowledge.js";
import type { Route } from "../../../src/demo/routes.js";
import type { Attachment } from "../../../src/demo/rows.js";
import type { WritableStore } from "./writable-store.js";

/** The read operations, but with links that are signed again at every read, as in the service. */
export function withSignedLinks(reads: Knowledge, store: WritableStore): Knowledge {
  return {
    ...reads,
    chunks: async (...asked) => {
      const { rows, ...others } = await reads.chunks(...asked);
      return { ...others, rows: rows.map((chunk) => signChunk(chunk, store.now())) };
    },
  };
}

/** A route that answers like the given one, but signs the links in chunks. */
export function withSignedAnswer(each: Route, store: WritableStore): Route {
  if (!["segments", "segments/s"].some((leaf) => each.path.test(`/v1/datasets/d/documents/d/${leaf}`))) return each;
  return {
    ...each,
    reply: async (asked) => {
      const answer = await each.reply(asked);
      if (answer.content === "") return answer;
      const { data, ...others } = JSON.parse(String(answer.content));
      const sign = (chunk: Listed) => signChunk(chunk, store.now());
      return {
        ...answer,
        content: JSON.stringify({ data: Array.isArray(data) ? data.map(sign) : sign(data), ...others }),
      };
    },
  };
}

/** A link and the question mark after it, which the signature replaces; the rest of its query becomes plain text. */
const fileLink = /(\/files\/[0-9a-f-]+\/(?:file|image)-preview)\??/g;
const secret = randomBytes(32);

/**
 * The chunk for an answer at `now`, in Unix seconds: links to files in `sign_content` and in attachments get a fresh signature
 * (`timestamp`, `nonce`, `sign`). The content itself, and chunks without links, stay unchanged.
 */
function signChunk(chunk: Listed, now: number): Listed {
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
