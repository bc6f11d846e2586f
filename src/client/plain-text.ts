import { blankControls, cutText } from "../safe-text.js";

/** Text of the service as it may stand in a message: without the key, on one line, without control characters, cut. */
export function plainText(text: string, key: string, length = 300): string {
  const line = blankControls(withoutKey(text, key)).replace(/\s+/g, " ").trim();
  return cutText(line, length);
}

/** The text with the key taken out: plain, and as it looks percent-encoded or somewhere in base64. */
export function withoutKey(text: string, key: string): string {
  if (!key) return text;
  const encoded = encodeURIComponent(key);
  const forms = [key, encoded, encoded.replace(/%../g, (hex) => hex.toLowerCase()), ...inBase64(key)];
  return forms.reduce((rest, secret) => rest.replaceAll(secret, "[key]"), text);
}

/** A form shorter than this could stand in any text. */
const shortestForm = 8;

/**
 * The key in base64 of both alphabets, behind 0, 1 or 2 bytes of a group of three: it looks different each time. The first
 * and the last characters hold bits of what stands beside it and are left out.
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
