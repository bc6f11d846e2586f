import { expect, test } from "vitest";
import type { Options } from "../../src/cli/command.js";
import { readLine } from "../../src/cli/parse-command-line.js";

const options = {
  out: { type: "string", alias: "o", describe: "" },
  format: { type: "string", array: true, describe: "" },
  quiet: { type: "boolean", alias: "q", describe: "" },
  json: { type: "boolean", describe: "" },
  version: { type: "boolean", alias: ["V", "v"], describe: "" },
  duckdb: { type: "string", valueIsOptional: true, describe: "" },
} as const satisfies Options;

/**
 * Writes a parsed command line as short text: `out=x` for a known flag, `?--x` for an unknown flag, and the other arguments after a
 * bar.
 */
function shown(text: string): string {
  const { flags, plainArguments } = readLine(text.split(" "), options);
  const flagText = flags.map(
    ({ written, name, value }) => `${name ?? `?${written}`}${value === undefined ? "" : `=${value}`}`,
  );
  return [...flagText, "|", ...plainArguments.map((place) => place.text)].join(" ");
}

test.each([
  ["--out x y", "out=x | y"],
  ["--out=x y", "out=x | y"],
  ["-o x y", "out=x | y"],
  ["-o=x y", "out=x | y"],
  ["-ox y", "out=x | y"],
  ["-qo x y", "quiet out=x | y"],
  ["-qo/x y", "quiet out=/x | y"],
  ["--out", "out |"],
  ["--out=", "out= |"],
  ["--out=a=b", "out=a=b |"],
  ["--json x", "json | x"],
  ["--json true x", "json=true | x"],
  ["x --json true", "json=true | x"],
  ["--no-json true", "json=false | true"],
  ["--json=false", "json=false |"],
  ["-V", "version |"],
  ["-vq", "version quiet |"],
  ["--duckdb x", "duckdb | x"],
  ["--duckdb=x y", "duckdb=x | y"],
  ["--base-ulr=x", "?--base-ulr=x |"],
  ["--no-out", "?--no-out |"],
  ["-x", "?-x |"],
  ["-json -qx", "?-json ?-qx |"],
  ["-- --json -q", "| --json -q"],
  ["- a", "| - a"],
  ["--__proto__=x --constructor", "?--__proto__=x ?--constructor |"],
])("%s is %s", (text, line) => {
  expect(shown(text)).toBe(line);
});

test("an argument knows the flag before it", () => {
  const { plainArguments } = readLine(["a", "--format", "csv", "b", "c"], options);
  expect(plainArguments.map(({ text, index, after }) => [text, index, after?.written])).toEqual([
    ["a", 0, undefined],
    ["b", 3, "--format"],
    ["c", 4, "--format"],
  ]);
});
