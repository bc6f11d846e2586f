import fc from "fast-check";

/** Texts that try to break out of their element, hide what surrounds them, or overflow the page. */
export const hostileTexts: readonly string[] = [
  "</script><script>alert(1)</script>",
  `"><img src=x onerror=alert(1)>`,
  "'><svg onload=alert(1)>",
  "&lt;b&gt; &amp;amp; &#60;",
  "\u202egnp.exe\u202d left to right again",
  "\u2066isolated \u2067and never closed",
  "NUL \u0000 escape \u001b[31m bell \u0007 next line \u0085",
  "half characters \ud800 and \udfff \uffff",
  "a".repeat(1_000_000),
  "字".repeat(400_000),
  `"double" 'single' \`back\` \${expression} {{template}}`,
  "javascript:alert(1)",
  "</style><style>*{display:none}</style>",
  "]]><!-- --><!DOCTYPE x><plaintext>",
  "</td></tr></table></div></section></main><h1>owned</h1>",
  "👩‍👩‍👧‍👦".repeat(200),
  `e${"\u0301".repeat(3000)}`,
  "\u200f\u200e\u061c \u200b\u00ad\ufeff",
  " ",
  "",
  "line\nfeed\r\nand\ttab\u2028and separators\u2029",
  "==== $(rm -rf /) `id` ; | & > < *",
];

/** Hostile texts that are short enough for many rounds. */
const shortHostileTexts = hostileTexts.filter(({ length }) => length < 10_000);

/** Any text: hostile texts, markup characters, and random UTF-16 units, including lone surrogates. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...shortHostileTexts),
  fc.constantFrom("<", ">", '"', "'", "&", "<!--", "]]>", "=", "`", "\0", "\ud800", "\u202e", "onload=x"),
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
);
