import type { IncomingFile } from "../client/download/open-downloads.js";

/** Bytes that a link can have at the most, with the JSON around it. */
const longestLink = 65_536;

/**
 * Tells a link from a file: the service's own `/download` may answer either. A link is signed, so that it is looked for in
 * memory and never written to the disk. Gives the link, or the file from its first byte on.
 */
export async function linkOrFile({ announced, pieces }: IncomingFile): Promise<string | IncomingFile> {
  const rest = pieces[Symbol.asyncIterator]();
  const head: Uint8Array[] = [];
  for (let size = 0; size <= longestLink; ) {
    const next = await rest.next();
    if (next.done) return linkIn(Buffer.concat(head)) ?? { announced, pieces: joined(head, rest) };
    head.push(next.value);
    size += next.value.length;
  }
  return { announced, pieces: joined(head, rest) };
}

async function* joined(head: readonly Uint8Array[], rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* head;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

function linkIn(bytes: Buffer): string | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    const url = typeof value === "object" && value !== null && "url" in value ? value.url : undefined;
    return typeof url === "string" ? url : undefined;
  } catch {
    return undefined; // the file itself
  }
}
