import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ExactNumber } from "../../src/client/parse-json.js";
import { withoutSignatures, withoutSignaturesIn } from "../../src/normalise/signatures.js";

const id = "0d9c8b7a-6f5e-4d3c-9b2a-1f0e9d8c7b6a";
const file = `/files/${id}/file-preview`;
const image = `/files/${id}/image-preview`;
const signature = "timestamp=1741267200&nonce=9f86d081884c7d65&sign=n4bQgYhMfWWaL-qgxVrQ_FaO_TxsrC4Is0V1sFbDwCg=";

describe("withoutSignatures", () => {
  it.each([
    ["alone", `${file}?${signature}`, file],
    ["in another order", `${file}?sign=3&timestamp=1&nonce=2`, file],
    ["one of them", `${file}?nonce=2`, file],
    ["empty", `${file}?timestamp=&nonce=&sign=`, file],
    ["twice", `${file}?sign=1&sign=2`, file],
    ["percent-encoded", `${file}?timestamp=1&nonce=2&sign=n4bQ%3D`, file],
    ["of plain base64", `${file}?timestamp=1&nonce=2&sign=n4+Q/a==`, file],
    ["before others", `${file}?${signature}&as_attachment=true`, `${file}?as_attachment=true`],
    ["behind others", `${file}?as_attachment=true&${signature}`, `${file}?as_attachment=true`],
    ["between others", `${file}?a=1&${signature}&b=2`, `${file}?a=1&b=2`],
    ["among others", `${file}?timestamp=1&a=1&nonce=2&b&sign=3&c=`, `${file}?a=1&b&c=`],
    ["before one without a value", `${file}?${signature}&download`, `${file}?download`],
    ["with &amp;", `${file}?timestamp=1&amp;nonce=2&amp;sign=3`, file],
    ["with &amp; and others", `${file}?a=1&amp;timestamp=1&amp;nonce=2&amp;sign=3&amp;b=2`, `${file}?a=1&amp;b=2`],
    ["with &amp;, first", `${file}?timestamp=1&amp;a=1`, `${file}?a=1`],
    ["appended to a query", `${file}?${signature}?a=1`, `${file}?a=1`],
    ["appended to an older signature", `${file}?${signature}?${signature}`, file],
    ["before a fragment", `${file}?${signature}#page=2`, `${file}#page=2`],
    ["of an image", `${image}?${signature}`, image],
    ["of a tool's file", `/files/tools/${id}.png?${signature}`, `/files/tools/${id}.png`],
    ["absolute", `https://kb.example.com:8443/v1${file}?${signature}`, `https://kb.example.com:8443/v1${file}`],
    ["in a Markdown image", `![](${image}?${signature})`, `![](${image})`],
    ["in a Markdown image with a title", `![a](${image}?${signature} "a ?sign=1")`, `![a](${image} "a ?sign=1")`],
    ["in a Markdown link", `[${file}](${file}?${signature})`, `[${file}](${file})`],
    ["in HTML", `<img src="${image}?${signature}">`, `<img src="${image}">`],
    ["in angle brackets", `<${file}?${signature}>`, `<${file}>`],
    ["in JSON", `{"url":"${file}?${signature}"}`, `{"url":"${file}"}`],
    ["in code", `\`${file}?${signature}\``, `\`${file}\``],
    ["in bold", `**${file}?${signature}**`, `**${file}**`],
    ["in a table", `|${file}?${signature}|1|`, `|${file}|1|`],
    ["several", `${file}?${signature} ${image}?${signature}\n${file}`, `${file} ${image}\n${file}`],
    ["several, with a comma", `${file}?${signature},${image}?${signature}`, `${file},${image}`],
    ["with a dot behind", `See ${file}?${signature}.`, `See ${file}.`],
    ["with a dot and text behind", `See ${file}?${signature}. Then`, `See ${file}. Then`],
    ["with a comma behind", `See ${file}?${signature}, or not`, `See ${file}, or not`],
    ["with a semicolon behind", `${file}?${signature}; next`, `${file}; next`],
    ["with an exclamation mark behind", `${file}?${signature}!`, `${file}!`],
    ["with a bracket behind", `(see ${file}?${signature})`, `(see ${file})`],
    ["with Chinese behind", `见${file}?${signature}。更多内容`, `见${file}。更多内容`],
    [
      "with a comma and another link behind",
      `${file}?${signature},https://a.example/?sign=1`,
      `${file},https://a.example/?sign=1`,
    ],
    [
      "with Chinese and another link behind",
      `${file}?${signature}，https://a.example/?sign=1`,
      `${file}，https://a.example/?sign=1`,
    ],
    ["with an entity behind", `${file}?${signature}&nbsp;text`, `${file}&nbsp;text`],
    ["with a lone & behind", `${file}?${signature}& more`, `${file}& more`],
  ])("takes out a signature %s", (_what, text, without) => {
    expect(withoutSignatures(text)).toBe(without);
  });

  it.each([
    "",
    "no link",
    file,
    `${file}?`,
    `${file}?a=1&b=2`,
    `${file}?design=1&assign=2&signature=3&timestamps=4`,
    `${file}?a=1&amp;b=2.`,
    `${file}&sign=1`,
    `${file} ?sign=1`,
    `/files/?sign=1`,
    `https://example.com/page?${signature}`,
    `https://example.com/profiles/me?${signature}`,
    "timestamp=1&nonce=2&sign=3",
    "?sign=3 /files/",
    "\ud800 /files/ \r\n\0\u2028",
  ])("leaves %j as it is", (text) => {
    expect(withoutSignatures(text)).toBe(text);
  });

  it("takes time that grows with the text, not with its square", () => {
    const started = performance.now();
    for (const piece of [
      "/files/",
      "/files/a?",
      "/files/a?sign=1.b",
      "/files/a?&",
      "/files/a?a=1&amp;",
      "?sign=",
      "/files/%",
    ]) {
      withoutSignatures(piece.repeat(200_000 / piece.length));
    }
    expect(performance.now() - started).toBeLessThan(2000);
  });
});

describe("withoutSignaturesIn", () => {
  it("reaches every string, and leaves names and everything else as they are", () => {
    const link = `${file}?${signature}`;
    const exact = new ExactNumber("9007199254740993");
    const value = JSON.parse(
      JSON.stringify({ a: [link, { b: link, [link]: 1 }], n: null, t: true, i: 1, __p: 0 }).replace("__p", "__proto__"),
    );
    expect(JSON.stringify(withoutSignaturesIn(value))).toBe(
      JSON.stringify({ a: [file, { b: file, [link]: 1 }], n: null, t: true, i: 1, __p: 0 }).replace("__p", "__proto__"),
    );
    expect(withoutSignaturesIn([exact, 1.5])).toEqual([exact, 1.5]);
    expect(withoutSignaturesIn(link)).toBe(file);
  });
});

const paths = fc.constantFrom(file, image, `/files/tools/${id}.png`, `https://kb.example.com${file}`);
const values = fc.string({ unit: fc.constantFrom(..."abcXYZ019-_="), maxLength: 12 });
const signatures = fc
  .tuple(fc.nat(), values, values)
  .map(([timestamp, nonce, sign]) => `timestamp=${timestamp}&nonce=${nonce}&sign=${sign}`);
const others = fc.constantFrom("", "as_attachment=true", "a=1&b=2", "page=2");
/** Text that ends a link: what stands behind a signature in prose. */
const between = fc.constantFrom(
  " ",
  "\n",
  ") ",
  '" ',
  ". ",
  ", ",
  "。",
  "，见",
  "|",
  "*",
  "](",
  "\r\n\u2028",
  "\ud800",
  ".b",
  "; ",
);
const prose = fc.string({
  unit: fc.constantFrom(..."ab .,?&=#%。sign=/files", "/files/", "?sign=", "&amp;", "http://"),
});

/** A text with links, signed once and once again. */
const signedTwice = fc
  .array(
    fc.record({ path: paths, other: others, first: signatures, second: signatures, before: fc.boolean(), between }),
  )
  .map((links) => {
    const write = (pick: "first" | "second") =>
      links
        .map(({ path, other, before, between, ...link }) => {
          const parameters = before ? [link[pick], other] : [other, link[pick]];
          return `${path}?${parameters.filter((part) => part !== "").join("&")}${between}`;
        })
        .join("");
    const plain = links.map(({ path, other, between }) => `${path}${other && `?${other}`}${between}`).join("");
    return { first: write("first"), second: write("second"), plain };
  });

describe("for every text, withoutSignatures", () => {
  it("makes two readings of a text equal, and keeps everything but the signatures", () => {
    fc.assert(
      fc.property(signedTwice, ({ first, second, plain }) => {
        expect(withoutSignatures(first)).toBe(plain);
        expect(withoutSignatures(second)).toBe(plain);
      }),
      { numRuns: 500 },
    );
  });

  it("changes nothing when it is done again", () => {
    const pieces = fc.oneof(
      prose,
      paths,
      signatures,
      between,
      fc.constantFrom("?", "&", "&amp;", "?sign=a", "&sign=b", ".", "/"),
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 20 }), (parts) => {
        const once = withoutSignatures(parts.join(""));
        expect(withoutSignatures(once)).toBe(once);
      }),
      { numRuns: 3000 },
    );
  });

  it("leaves a text without links as it is", () => {
    const texts = fc.oneof(prose, fc.string({ unit: "binary" })).filter((text) => !text.includes("/files/"));
    fc.assert(
      fc.property(texts, signatures, (text, signature) => withoutSignatures(text + signature) === text + signature),
    );
  });
});
