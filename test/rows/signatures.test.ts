import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ExactNumber } from "../../src/rows/exact-json.js";
import { withoutSignatures, withoutSignaturesIn } from "../../src/rows/row-from-record.js";
import { inFull } from "../rounds.js";

const id = "0d9c8b7a-6f5e-4d3c-9b2a-1f0e9d8c7b6a";
const file = `/files/${id}/file-preview`;
const image = `/files/${id}/image-preview`;
const tool = `/files/tools/${id}.png`;
const nonce = "9f86d081884c7d659a2feaa0c55ad015";
const sign = "n4bQgYhMfWWaL-qgxVrQ_FaO_TxsrC4Is0V1sFbDwCg";
const query = `timestamp=1741267200&nonce=${nonce}&sign=${sign}=`;
const signature = `?${query}`;

describe("withoutSignatures", () => {
  it.each([
    ["alone", `${file}${signature}`, file],
    ["of an image", `${image}${signature}`, image],
    ["of a tool's file", `${tool}${signature}`, tool],
    ["with the last character escaped", `${file}${signature.replace(/=$/, "%3D")}`, file],
    ["absolute", `https://kb.example.com:8443/v1${file}${signature}`, `https://kb.example.com:8443/v1${file}`],
    ["with text right behind", `${image}${signature}tail`, `${image}tail`],
    ["with a number right behind", `${image}${signature}1`, `${image}1`],
    ["with = right behind", `${image}${signature}==`, `${image}==`],
    ["with a link right behind", `${file}${signature}${image}${signature}`, `${file}${image}`],
    ["in the place of a question mark", `${image}${signature}as_attachment=true`, `${image}as_attachment=true`],
    ["before a query", `${image}${signature}?as_attachment=true`, `${image}?as_attachment=true`],
    ["before a parameter", `${image}${signature}&as_attachment=true`, `${image}&as_attachment=true`],
    ["before an older one", `${image}${signature}${query}`, `${image}${query}`],
    ["twice", `${file}${signature}${signature}`, file],
    ["before a fragment", `${file}${signature}#page=2`, `${file}#page=2`],
    ["in a Markdown image", `![](${image}${signature})`, `![](${image})`],
    ["in a Markdown link", `[${file}](${file}${signature} "a ?sign=1")`, `[${file}](${file} "a ?sign=1")`],
    ["in HTML", `<img src="${image}${signature}">`, `<img src="${image}">`],
    ["in a table", `|${file}${signature}|1|`, `|${file}|1|`],
    ["several", `${file}${signature} ${image}${signature}\n${file}`, `${file} ${image}\n${file}`],
    ["with a dot and text behind", `See ${file}${signature}.Then`, `See ${file}.Then`],
    ["with Chinese behind", `见${file}${signature}。更多内容`, `见${file}。更多内容`],
    ["with an entity behind", `${file}${signature}&nbsp;text`, `${file}&nbsp;text`],
  ])("takes out a signature %s", (_what, text, without) => {
    expect(withoutSignatures(text)).toBe(without);
  });

  it.each([
    "",
    "no link",
    file,
    `${file}?`,
    `${file}?a=1&b=2`,
    `${file}?timestamp=1&nonce=2&sign=3`,
    `${file}?${query.replace("1741267200", "174126720")}`,
    `${file}?${query.replace("1741267200", "17412672000")}`,
    `${file}?${query.replace(nonce, nonce.slice(1))}`,
    `${file}?${query.replace(nonce, nonce.toUpperCase())}`,
    `${file}?${query.replace(sign, sign.slice(1))}`,
    `${file}?${query.replace(sign, `${sign}A`)}`,
    `${file}?${query.replace(sign, sign.replace("-", "+"))}`,
    `${file}?sign=${sign}=&timestamp=1741267200&nonce=${nonce}`,
    `${file}?timestamp=1741267200&a=1&nonce=${nonce}&sign=${sign}=`,
    `${file}${signature.replaceAll("&", "&amp;")}`,
    `${file}?as_attachment=true&${query}`,
    `${file}&${query}`,
    `${file} ${signature}`,
    `/files/${signature}`,
    `https://example.com/page${signature}`,
    `https://example.com/profiles/me${signature}`,
    `${signature} /files/`,
    "\ud800 /files/ \r\n\0\u2028",
  ])("leaves %j as it is", (text) => {
    expect(withoutSignatures(text)).toBe(text);
  });

  it.runIf(inFull)("needs time in proportion to the text, not to its square", () => {
    const started = performance.now();
    const pieces = [
      "/files/",
      "/files/a?",
      `/files/a${signature}`,
      `/files/a${signature}b`,
      `${signature}a`,
      "/files/%",
    ];
    for (const piece of [...pieces, signature.slice(0, -1), "a/", "/files/a?timestamp=1741267200"]) {
      withoutSignatures(piece.repeat(200_000 / piece.length));
      withoutSignatures(`/files/a${signature}${piece.repeat(200_000 / piece.length)}`);
    }
    expect(performance.now() - started).toBeLessThan(2000);
  });
});

describe("withoutSignaturesIn", () => {
  it("reaches every string, and leaves names and everything else as they are", () => {
    const link = `${file}${signature}`;
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

const charactersOf = (unit: string, length: number) =>
  fc.string({ unit: fc.constantFrom(...unit), minLength: length, maxLength: length });
const queries = fc
  .tuple(
    charactersOf("0123456789", 10),
    charactersOf("0123456789abcdef", 32),
    charactersOf("abcxyzABCXYZ0189-_", 43),
    fc.constantFrom("=", "=", "%3D"),
  )
  .map(([timestamp, random, bytes, end]) => `timestamp=${timestamp}&nonce=${random}&sign=${bytes}${end}`);
const signatures = queries.map((each) => `?${each}`);

/** Pieces of text, some of them almost a signature. */
const pieces = fc.oneof(
  fc.string({ unit: "binary", maxLength: 8 }),
  fc.constantFrom(
    file,
    image,
    tool,
    `https://kb.example.com${file}`,
    "/files/",
    "/files/a",
    "tail",
    "/",
    "?",
    "&",
    "=",
    "%3D",
  ),
  fc.constantFrom(
    "?as_attachment=true",
    "&a=1",
    "&amp;",
    "?sign=",
    "timestamp=",
    ") ",
    "。",
    "\r\n",
    "\ud800",
    "?timestamp=1",
  ),
  queries.map((each) => `?as_attachment=true&${each}`),
  signatures.map((each) => each.replace("nonce", "nonces")),
  signatures.map((each) => each.replace(/nonce=./, "nonce=")),
  signatures.map((each) => each.replace("&sign", "&amp;sign")),
);
const texts = fc.array(pieces, { maxLength: 15 }).map((parts) => parts.join(""));

/** The offsets just after the path of a file link. */
function placesOf(text: string): number[] {
  const places = new Set<number>();
  for (const { index } of text.matchAll(/\/files\//g)) {
    const [path = ""] = /^\/files\/[\w%+.~/-]{0,150}/.exec(text.slice(index)) ?? [];
    for (let end = "/files/".length + 1; end <= path.length; end++) places.add(index + end);
  }
  return [...places].sort((one, other) => one - other);
}

describe("for every text, withoutSignatures", () => {
  it.runIf(inFull)(
    "restores the original text, in which a service added signatures after paths of files, to the character",
    () => {
      const signings = fc.tuple(texts, fc.array(fc.tuple(fc.nat(), signatures), { maxLength: 6 }));
      let put = 0;
      fc.assert(
        fc.property(signings, ([text, drawn]) => {
          const places = placesOf(text);
          const at = new Map(drawn.map(([number, each]) => [places[number % places.length] ?? -1, each]));
          const last = [...at.keys()].sort((one, other) => other - one).filter((place) => place >= 0);
          const signed = last.reduce((all, place) => all.slice(0, place) + at.get(place) + all.slice(place), text);
          put += last.length;
          expect(withoutSignatures(signed)).toBe(text);
          expect(withoutSignatures(withoutSignatures(signed))).toBe(text);
        }),
        { numRuns: 2000 },
      );
      expect(put).toBeGreaterThan(1000);
    },
  );

  it.runIf(inFull)("changes nothing when it is done again", () => {
    const parts = fc.array(fc.oneof(pieces, signatures, fc.constantFrom(file, image)), { maxLength: 20 });
    fc.assert(
      fc.property(parts, (all) => {
        const once = withoutSignatures(all.join(""));
        expect(withoutSignatures(once)).toBe(once);
      }),
      { numRuns: 3000 },
    );
  });

  it("does not change a text without links", () => {
    const plain = fc.string({ unit: "binary" }).filter((text) => !text.includes("/files/"));
    fc.assert(fc.property(plain, signatures, (text, each) => withoutSignatures(text + each) === text + each));
  });
});
