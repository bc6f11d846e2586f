import fc from "fast-check";
import { expect, test } from "vitest";
import { folderName, safeFileName } from "../../src/originals/file-names.js";

test.each([
  ["Guide.pdf", "Guide.pdf"],
  ["手册 2024.docx", "手册 2024.docx"],
  ["e\u0301.txt", "é.txt"],
  ["../../etc/passwd", "_.._etc_passwd"],
  ["..", "original"],
  [".", "original"],
  ["", "original"],
  ["   ", "original"],
  [".htaccess", "htaccess"],
  ["a/b\\c.txt", "a_b_c.txt"],
  ["CON", "_CON"],
  ["nul.txt", "_nul.txt"],
  ["com1.tar.gz", "_com1.tar.gz"],
  ["console.txt", "console.txt"],
  ["end. ", "end"],
  ["a\u0000b\n\u202ec.txt", "a_b__c.txt"],
  ['<a>:"|?*.md', "_a______.md"],
  ["\ud800.txt", "\ufffd.txt"],
])("%j is kept as %j", (name, expected) => {
  expect(safeFileName(name)).toBe(expected);
});

test("a long name is cut before its ending, at a whole character", () => {
  const name = safeFileName(`${"漢字😀".repeat(100)}.docx`);
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(200);
  expect(name).toMatch(/^(漢字😀)+(漢|漢字)?\.docx$/u);
  expect(safeFileName(`${"x".repeat(300)}.${"y".repeat(300)}`)).toBe("x".repeat(200));
});

test("for any name from the service, the file stays in the folder, on every file system", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 400 }), (name) => {
      const safe = safeFileName(name);
      expect(safe).not.toMatch(/[/\\\p{Cc}<>:"|?*]|^\.|[. ]$|^$/u);
      expect(Buffer.byteLength(safe)).toBeLessThanOrEqual(201);
      expect(safeFileName(safe)).toBe(safe);
    }),
  );
});

test("a document's folder is its id; other texts are hashed, and different ones stay different", () => {
  const id = "a8e0e5b5-78c6-4130-a5ce-25feb0e0b4ac";
  expect(folderName(id)).toBe(id);
  const odd = ["..", "../x", "A8E0", "con", "x".repeat(200), "", "a b", "."];
  const names = odd.map(folderName);
  for (const name of names) expect(name).toMatch(/^[0-9a-f]{32}$/);
  expect(new Set(names).size).toBe(odd.length);
});
