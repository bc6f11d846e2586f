import { isBlank, type Text } from "./hand.js";

/** Characters of a window. A text of twice as many has a whole window of any text that it stands inside. */
const size = 64;

/**
 * Tells whether a text stands inside one of some texts: its content inside the content, its answer inside the answer. A blank
 * content stands nowhere. Long contents are looked up by windows, so that many of them take no time squared.
 */
export function insideOf(texts: readonly Text[]): (text: Text) => boolean {
  let index: ReadonlyMap<string, ReadonlySet<Text>> | undefined;
  return (text) => {
    if (isBlank(text.content)) return false;
    if (text.content.length < 2 * size) return texts.some((whole) => standsInside(text, whole));
    index ??= windowsOf(texts);
    for (let at = 0; at < size; at++)
      for (const whole of index.get(text.content.slice(at, at + size)) ?? [])
        if (standsInside(text, whole)) return true;
    return false;
  };
}

function standsInside(text: Text, whole: Text): boolean {
  return whole.content.includes(text.content) && (whole.answer ?? "").includes(text.answer ?? "");
}

/** The texts by the windows of their contents, which follow each other without a gap. */
function windowsOf(texts: readonly Text[]): ReadonlyMap<string, ReadonlySet<Text>> {
  const index = new Map<string, Set<Text>>();
  for (const text of texts) {
    for (let at = 0; at + size <= text.content.length; at += size) {
      const window = text.content.slice(at, at + size);
      const found = index.get(window);
      if (found) found.add(text);
      else index.set(window, new Set([text]));
    }
  }
  return index;
}
