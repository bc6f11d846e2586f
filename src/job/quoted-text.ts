import { escapeControls } from "../safe-text.js";

/** Renders a string as JSON that is safe to print: invisible characters are escaped, what follows the longest is cut. */
export function quotedText(text: string, longest = 60): string {
  const characters = [...text.slice(0, 2 * (longest + 1))];
  const cut = characters.length > longest ? `${characters.slice(0, longest).join("")}…` : text;
  return escapeControls(JSON.stringify(cut));
}

/** Renders the name of a file, whole, as it can be printed. */
export function fileText(file: string): string {
  return quotedText(file, Number.POSITIVE_INFINITY);
}
