/** Cuts a text into pieces of at most so many characters (from 2): behind a sentence, else at white space, else anywhere. */
export function cutText(text: string, most: number): readonly string[] {
  const pieces: string[] = [];
  let rest = text.trim();
  while (rest.length > most) {
    const end = endOfPiece(rest.slice(0, most));
    pieces.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  return rest === "" ? pieces : [...pieces, rest];
}

/** The sentences of a text, each without the white space around it. */
export function sentencesIn(text: string): readonly string[] {
  const parts = text.split(/(?<=[.!?؟])\s+|(?<=[。！？])|\n+/);
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

function endOfPiece(head: string): number {
  const sentence = head.search(/[.!?。！？؟][^.!?。！？؟]*$/) + 1;
  if (sentence > 0) return sentence;
  const space = head.search(/\s\S*$/);
  if (space > 0) return space;
  return /[\ud800-\udbff]$/.test(head) ? head.length - 1 : head.length; // never through the middle of a character
}
