/** Control characters, line separators and marks of direction: they move the cursor, break a line or hide a part of it. */
const controls = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/** Writes control characters as JSON does, `\u001b`; JSON stays the same JSON. */
export function escapeControls(text: string): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return text.replace(controls, (run) => run.split("").map(escaped).join(""));
}

/** Replaces every run of control characters by a blank, so that the text stays on one line. */
export function blankControls(text: string): string {
  return text.replace(controls, " ");
}

/** Cuts what follows the longest, in UTF-16 units; half a character becomes U+FFFD. */
export function cutText(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text;
}
