import { endOfString, isBlank } from "./scan-json.js";

const number = /-?\d[\d.eE+-]*/y;

/**
 * JSON text in the one form that stands for all texts of the same value: no blanks, strings with the fewest escapes, numbers
 * by their exact decimal value. The text must be JSON. The order of members and members of the same name stay.
 */
export function canonicalJson(text: string): string {
  if (!/[\\\s\d]/.test(text)) return text; // most lists: no escape, no blank, no number
  let canonical = "";
  for (let at = 0; at < text.length; ) {
    const end = endOfToken(text, at);
    canonical += canonicalToken(text.slice(at, end));
    at = end;
  }
  return canonical;
}

/** The same for a text that is JSON or not, as in a column of any type: a text that is none stays as it is. */
export function canonicalText(text: string): string {
  if (!/^[\s[{"\d-]/.test(text)) return text;
  try {
    JSON.parse(text);
    return canonicalJson(text);
  } catch {
    return text;
  }
}

function endOfToken(text: string, at: number): number {
  if (text[at] === '"') return endOfString(text, at);
  number.lastIndex = at;
  return number.test(text) ? number.lastIndex : at + 1;
}

function canonicalToken(token: string): string {
  const code = token.charCodeAt(0);
  if (code === 34) return token.includes("\\") ? JSON.stringify(JSON.parse(token)) : token;
  if (code === 45 || (code >= 48 && code <= 57)) return exactDecimal(token);
  return isBlank(code) ? "" : token;
}

/** `-1.50e3` and `-1500` are `-15e2`. Never a double: what would be rounded is another number. */
function exactDecimal(text: string): string {
  const [, sign = "", whole = "", fraction = "", power = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const short = digits.replace(/0+$/, "");
  if (short === "") return "0";
  return `${sign}${short}e${BigInt(power) - BigInt(fraction.length) + BigInt(digits.length - short.length)}`;
}
