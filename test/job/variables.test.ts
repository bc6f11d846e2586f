// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the tests need ${NAME} in plain strings
import fc from "fast-check";
import { expect, test } from "vitest";
import { hasVariable, interpolate } from "../../src/job/variables.js";

const secrets = new Set(["KEY"]);
const env = { HOST: "kb.example.com", EMPTY: "", NESTED: "${HOST}", KEY: "tell-nobody" };
const malformed = "expected a name and } after ${, as in ${NAME}; write $${ for the two characters themselves";

test.each([
  ["https://${HOST}/v1", "https://kb.example.com/v1"],
  ["${HOST}${HOST}", "kb.example.comkb.example.com"],
  ["a${EMPTY}b", "ab"],
  ["$${HOST}", "${HOST}"],
  ["$$${HOST}", "$${HOST}"],
  ["$${HOST}${HOST}", "${HOST}kb.example.com"],
  ["${NESTED}", "${HOST}"],
  ["$HOST {HOST} $", "$HOST {HOST} $"],
])("%s is filled in: %s", (text, filled) => {
  expect(interpolate(text, { env, secrets })).toEqual({ value: filled, findings: [] });
});

test.each([
  ["${UNSET}", "UNSET is not set in the environment"],
  ["${toString}", "toString is not set in the environment"],
  ["${KEY}", "KEY holds the key, which is never part of a job; its name belongs in api_key_env"],
  ["${", malformed],
  ["${}", malformed],
  ["${HOST", malformed],
  ["${1A}", malformed],
  ["${HOST:-other}", malformed],
])("%s is a finding, and stays", (text, message) => {
  expect(interpolate(text, { env, secrets })).toEqual({ value: text, findings: [{ path: [], message }] });
});

test("replaces variables at any depth, keeps keys and other values, and names every place once", () => {
  const document = { "${A}": [1, null, ["${HOST}", { b: "${A}${A}${B}" }]] };
  expect(interpolate(document, { env, secrets })).toEqual({
    value: { "${A}": [1, null, ["kb.example.com", { b: "${A}${A}${B}" }]] },
    findings: ["A", "B"].map((name) => ({
      path: ["${A}", 2, 1, "b"],
      message: `${name} is not set in the environment`,
    })),
  });
});

test("keeps every document without ${ unchanged", () => {
  fc.assert(
    fc.property(
      fc.jsonValue().filter((value) => !JSON.stringify(value).includes("${")),
      (value) => {
        expect(interpolate(value, { env, secrets })).toEqual({ value, findings: [] });
      },
    ),
  );
});

test("any text stays the same if its ${ is doubled to $${", () => {
  const text = fc.array(fc.constantFrom("$", "{", "}", "HOST", "a"), { maxLength: 12 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, (wanted) => {
      const written = wanted.replaceAll("${", () => "$${");
      expect(interpolate(written, { env, secrets })).toEqual({ value: wanted, findings: [] });
      expect(hasVariable(written)).toBe(false);
    }),
  );
});
