import { basename, dirname, join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  isName,
  nameOfAttempt,
  nameOfReason,
  requireName,
  triedFrom,
} from "../../../src/parallel/exchange/exchange.js";

const name = fc.stringMatching(/^\w[\w.]{0,20}$/);

test("whatever other machines give as a name is refused, or stays in its folder", () => {
  const odd = fc.oneof(fc.string(), fc.stringMatching(/^[\w./\\]{0,6}$/), name);
  fc.assert(
    fc.property(odd, (text) => {
      if (!isName(text)) return void expect(() => requireName(text)).toThrow("names no file or document");
      const path = join("/place", requireName(text));
      expect([dirname(path), basename(path)]).toEqual(["/place", text]);
      expect(path).not.toMatch(/[\0\n\\]/);
    }),
  );
});

test("the file of an attempt that gave up names that attempt again, and any other file none", () => {
  fc.assert(
    fc.property(name, fc.uuid(), (document, token) => {
      const tried = { name: document, token };
      expect(triedFrom(nameOfReason(tried))).toEqual(tried);
      expect(triedFrom(nameOfAttempt(tried))).toBeUndefined();
    }),
  );
  fc.assert(
    fc.property(fc.string(), (file) => {
      const tried = triedFrom(file);
      if (tried) expect(nameOfReason(tried)).toBe(file);
    }),
  );
});
