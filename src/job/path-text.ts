import type { Path } from "./finding.js";
import { quotedText } from "./quoted-text.js";

/** Renders a path as a person writes it: `datasets[0].documents[2]`. Keys that are no plain words stand in quotes. */
export function pathText(path: Path): string {
  return path.map(stepText).join("").replace(/^\./, "");
}

function stepText(key: string | number): string {
  if (typeof key === "number") return `[${key}]`;
  return /^[\w-]{1,60}$/.test(key) ? `.${key}` : `[${quotedText(key)}]`;
}
