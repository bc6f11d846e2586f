import type { WordPart } from "../lost-facts.js";

/** Characters of an edited content and of an edited answer that a card shows. */
export const mostContent = 4_000;
export const mostAnswer = 2_000;

/** The first parts, up to so many characters in all; the last part says how many more there are. */
export function cutWords(parts: readonly WordPart[], most: number): readonly WordPart[] {
  let left = most;
  const end = parts.findIndex(({ text }) => {
    left -= text.length;
    return left < 0;
  });
  const last = parts[end];
  if (!last) return parts;
  const text = beginningOf(last.text, last.text.length + left);
  const rest = parts.slice(end + 1).reduce((sum, part) => sum + part.text.length + part.cut, 0);
  return [
    ...parts.slice(0, end),
    { ...last, text: `${text}…`, cut: last.cut + last.text.length - text.length },
    ...(rest > 0 ? [{ kind: "same", text: "…", cut: rest } as const] : []),
  ];
}

/** The beginning of a text, with no half character at its end. */
function beginningOf(text: string, length: number): string {
  return text.slice(0, length).replace(/[\ud800-\udbff]$/, "");
}
