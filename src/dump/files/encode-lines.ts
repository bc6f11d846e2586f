const lineFeed = 10;

/** UTF-8 of the texts, a line feed behind each: written once, without a joined text in between. */
export function encodeLines(texts: readonly string[]): Buffer {
  let size = texts.length;
  for (const text of texts) size += Buffer.byteLength(text);
  const bytes = Buffer.allocUnsafe(size);
  let at = 0;
  for (const text of texts) {
    at += bytes.write(text, at);
    bytes[at++] = lineFeed;
  }
  return bytes;
}
