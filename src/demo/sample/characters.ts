const secondHalf = /[\udc00-\udfff]/g;

/** How many characters (code points, not UTF-16 units) a text has; this is what the service calls its word count. */
export function characters(text: string): number {
  return text.length - (text.match(secondHalf)?.length ?? 0);
}
