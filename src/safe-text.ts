/** Control characters, line separators and direction marks. They move the cursor, break a line or hide part of it. */
const controls = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/** Escapes control characters as in JSON, `\u001b`. A JSON text keeps its meaning. */
export function escapeControls(text: string): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return text.replace(controls, (run) => run.split("").map(escaped).join(""));
}

/** Converts a string to JSON that is safe to print: invisible characters are escaped, and long text is truncated. */
export function quotedText(text: string, longest = 60): string {
  const characters = [...text.slice(0, 2 * (longest + 1))];
  const cut = characters.length > longest ? `${characters.slice(0, longest).join("")}…` : text;
  return escapeControls(JSON.stringify(cut));
}

/** Converts a file name to printable text, without truncation. */
export function fileText(file: string): string {
  return quotedText(file, Number.POSITIVE_INFINITY);
}

/** Replaces every run of control characters with a space, so that the text stays on one line. */
export function blankControls(text: string): string {
  return text.replace(controls, " ");
}

/** Truncates a text to `longest` UTF-16 units. Half a character becomes U+FFFD. */
export function cutText(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text;
}

/** Makes text of the service safe for a message: no key, one line, no control characters, truncated. */
export function plainText(text: string, key: string, length = 300): string {
  const line = blankControls(withoutKey(text, key)).replace(/\s+/g, " ").trim();
  return cutText(line, length);
}

/** Removes the key from a text, in plain, percent-encoded and base64 forms. */
export function withoutKey(text: string, key: string): string {
  if (!key) return text;
  const encoded = encodeURIComponent(key);
  const forms = [key, encoded, encoded.replace(/%../g, (hex) => hex.toLowerCase()), ...inBase64(key)];
  return forms.reduce((rest, secret) => rest.replaceAll(secret, "[key]"), text);
}

/** Whether a text contains what looks like a key of the service. Such a text must not be printed or used as a name. */
export function looksLikeKey(text: string): boolean {
  return /\bdataset-[A-Za-z0-9]{16,}/.test(text);
}

/** Minimum characters of a form of the key to remove. A shorter one could occur in any text. */
const shortestForm = 8;

/**
 * The key in both base64 alphabets. Base64 encodes groups of three bytes, so the key looks different at each of three offsets. The
 * first and last characters also encode neighbouring bytes, so they are left out.
 */
function inBase64(key: string): readonly string[] {
  const bytes = Buffer.from(key);
  const forms = [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    const whole = text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
    return [whole, whole.replaceAll("+", "-").replaceAll("/", "_")];
  });
  return forms.filter((form) => form.length >= shortestForm);
}
