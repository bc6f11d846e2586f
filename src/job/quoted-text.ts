/** Renders a string as JSON that is safe to print: invisible characters are escaped, what follows the longest is cut. */
export function quotedText(text: string, longest = 60): string {
  const characters = [...text.slice(0, 2 * (longest + 1))];
  const cut = characters.length > longest ? `${characters.slice(0, longest).join("")}…` : text;
  return visibleText(JSON.stringify(cut));
}

/** Renders the name of a file, whole, as it can be printed. */
export function fileText(file: string): string {
  return quotedText(file, Number.POSITIVE_INFINITY);
}

/** Escapes control characters, line ends and marks of direction, which could hide a part of a message. */
export function visibleText(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escapeText);
}

function escapeText(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
