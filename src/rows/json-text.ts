import { ExactNumber } from "../client/parse-json.js";

/**
 * JSON text of a value, on one line: exact numbers as the service wrote them, and a lone surrogate, which no reader of
 * JSON takes, as U+FFFD. JSON.stringify marks both cases with an escape that sound text never has.
 */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value);
  return text.includes("\\ud") ? exactText(value) : text;
}

function exactText(value: unknown): string {
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(exactText).join(",")}]`;
  if (typeof value === "string") return JSON.stringify(value.toWellFormed());
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, item]) => `${JSON.stringify(name.toWellFormed())}:${exactText(item)}`,
  );
  return `{${members.join(",")}}`;
}
