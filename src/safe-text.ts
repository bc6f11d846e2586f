/** Control characters, line separators and direction marks. They move the cursor, break a line or hide part of it. */
const controls = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/** Escapes control characters as in JSON, `\u001b`; JSON keeps its meaning. */
export function escapeControls(text: string): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return text.replace(controls, (run) => run.split("").map(escaped).join(""));
}

/** Replaces every run of control characters with a space, so that the text stays on one line. */
export function blankControls(text: string): string {
  return text.replace(controls, " ");
}

/** Truncates a text to `longest` UTF-16 units. Half a character becomes U+FFFD. */
export function cutText(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text;
}
