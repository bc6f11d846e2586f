/** Looks at JSON text without turning it into values, so that no number is rounded and no second member of a name is lost. */

const quote = 34;
const backslash = 92;

/** The end of the string that begins at `start`, its closing quote included. The text must be JSON. */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === backslash) before--;
    if ((end - before) % 2 === 1) return end + 1;
  }
  return text.length;
}

/** The members of a JSON object in their order, each with the text of its name, in quotes, and of its value. */
export function membersOf(text: string): readonly (readonly [name: string, value: string])[] {
  const members: [string, string][] = [];
  for (let at = text.indexOf('"'); at >= 0; ) {
    const nameEnd = endOfString(text, at);
    const start = skipBlanks(text, text.indexOf(":", nameEnd) + 1);
    const end = endOfValue(text, start);
    members.push([text.slice(at, nameEnd), text.slice(start, end)]);
    at = text.indexOf('"', end);
  }
  return members;
}

function endOfValue(text: string, start: number): number {
  const first = text[start];
  if (first === '"') return endOfString(text, start);
  if (first === "{" || first === "[") return endOfNested(text, start);
  let end = start;
  while (end < text.length && !isEnd(text.charCodeAt(end))) end++;
  return end;
}

/** Behind the bracket that closes the one at `start`; brackets in strings do not count. */
function endOfNested(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at) - 1;
    else if (code === 123 || code === 91) depth++;
    else if ((code === 125 || code === 93) && --depth === 0) return at + 1;
  }
  return text.length;
}

/** A comma, a closing bracket or a blank. */
function isEnd(code: number): boolean {
  return code === 44 || code === 125 || code === 93 || isBlank(code);
}

export function isBlank(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

function skipBlanks(text: string, start: number): number {
  let at = start;
  while (isBlank(text.charCodeAt(at))) at++;
  return at;
}
