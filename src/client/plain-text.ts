/** Text of the service as it may stand in a message: without the key, on one line, without control characters, cut. */
export function plainText(text: string, key: string, length = 300): string {
  const redacted = withoutKey(text, key);
  const line = redacted.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  return line.length > length ? `${line.slice(0, length).toWellFormed()}…` : line;
}

/** The text with the key taken out, plain and as it looks percent-encoded. */
export function withoutKey(text: string, key: string): string {
  if (!key) return text;
  const encoded = encodeURIComponent(key);
  const forms = [key, encoded, encoded.replace(/%../g, (hex) => hex.toLowerCase())];
  return forms.reduce((rest, secret) => rest.replaceAll(secret, "[key]"), text);
}
