// biome-ignore-all lint/suspicious/noTemplateCurlyInString: job files hold ${NAME} in plain strings
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { UsageError } from "../../src/errors.js";
import { parseJobText } from "../../src/job/draft-from-file.js";
import { inFull } from "../rounds.js";

const bomb = [
  "a: &a [x,x,x,x,x,x,x,x,x,x]",
  "b: &b [*a,*a,*a,*a,*a,*a,*a,*a]",
  "c: &c [*b,*b,*b,*b,*b,*b,*b]",
  "d: [*c,*c,*c,*c]",
];

function problemsOf(text: string): readonly string[] {
  try {
    parseJobText(text, "the job file");
  } catch (error) {
    if (error instanceof UsageError) return error.problems.map(({ path, message }) => `${path}: ${message}`);
    throw error;
  }
  return [];
}

test.each([
  ["a: [1, yes, null]", { a: [1, "yes", null] }],
  ['{\n\t"a": "\\ud83d\\ude00\\/"\n}', { a: "😀/" }],
  ["\ufeffa: 1\r\nb: 2\r\n", { a: 1, b: 2 }],
  ["a: ${NAME}", { a: "${NAME}" }],
  ["a: 2026-01-01", { a: "2026-01-01" }],
  ["1: a\ntrue: b", { "1": "a", true: "b" }],
  ["", null],
  ["a: &list [1]\nb: *list", { a: [1], b: [1] }],
  ["%YAML 1.1\n---\na: yes", { a: "yes" }],
])("reads %j", (text, value) => {
  expect(parseJobText(text, "the job file")).toEqual(value);
});

describe("refuses", () => {
  test.each([
    ["a: 'x", "line 1, column 6: Missing closing 'quote"],
    ["a: 1\nb: 2\na: 3", "line 3, column 1: this key occurs a second time"],
    ['{"a": 1, "a": 2}', "line 1, column 10: this key occurs a second time"],
    ["a:\n\t- b", "line 2, column 1: a tab; indent with blanks"],
    ["? [a]\n: b", "line 1, column 3: this key is not a text"],
    ["a: 1\n---\nb: 2", "line 2, column 1: a second document begins here; a job file holds one"],
    ["api_key: !tell-nobody", "line 1, column 10: unknown tag; put a text that begins with ! in quotes"],
    ["a: !!binary aGk=", "line 1, column 4: unknown tag; put a text that begins with ! in quotes"],
    [
      "api_key: |tell-nobody",
      "line 1, column 11: unexpected text; put a value that holds : , # | [ ] { or } in quotes",
    ],
    ["a: *tell-nobody", ": Unresolved alias (the anchor must be set before the alias)"],
    [bomb.join("\n"), ": Excessive alias count indicates a resource exhaustion attack"],
    [
      "a: {b: ${NAME}}",
      'line 1, column 9: unexpected text; put a value that holds : , # | [ ] { or } in quotes; inside [ ] and { } write "${NAME}" in quotes',
    ],
    ["a: &a [*a, *a]", ": nested more than 20 levels deep"],
    ["[".repeat(30) + "]".repeat(30), ": nested more than 20 levels deep"],
    [
      "documents: [${NAME}]",
      'line 1, column 14: Missing , or : between flow sequence items; inside [ ] and { } write "${NAME}" in quotes',
    ],
  ])("%j", (text, problem) => {
    expect(problemsOf(text)).toEqual([problem]);
  });

  test("several mistakes at once, at most ten", () => {
    expect(problemsOf("a: 1\na: 2\nb: 1\nb: 2")).toHaveLength(2);
    expect(problemsOf("a: 1\n".repeat(50))).toHaveLength(10);
  });

  test.runIf(inFull)("text that would overflow the stack", () => {
    expect(problemsOf("[".repeat(50_000))[0]).toMatch(/: nested more than 20 levels deep$/);
  });
});

test("a repeated key in JSON is refused, whatever text is in between", () => {
  const text = fc.string({ unit: fc.constantFrom('"', "\\", ":", ",", "{", "}", " ", "a") });
  fc.assert(
    fc.property(fc.array(text), (texts) => {
      const between = JSON.stringify(texts);
      expect(parseJobText(`{"a" : ${between}}`, "it")).toEqual({ a: texts });
      expect(problemsOf(`{"a" : ${between}, "a": 1}`)).toEqual([
        `line 1, column ${between.length + 10}: this key occurs a second time`,
      ]);
    }),
  );
});

test.runIf(inFull)("reads every JSON document, written as JSON or as YAML", () => {
  const document = fc.jsonValue({ noUnicodeString: false, maxDepth: 4 });
  fc.assert(
    fc.property(document, (value) => {
      // YAML has no integer -0, and the test needs only one spelling of each number.
      const wanted: unknown = JSON.parse(JSON.stringify(value));
      expect(parseJobText(JSON.stringify(value), "it")).toEqual(wanted);
      expect(parseJobText(stringify(wanted), "it")).toEqual(wanted);
    }),
  );
});
