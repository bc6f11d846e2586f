import { expect, test } from "vitest";
import { checkLine } from "../../../src/cli/line/check-line.js";
import { globalOptions } from "../../../src/cli/line/global-options.js";
import { readLine } from "../../../src/cli/line/read-line.js";
import { runCommand } from "../../../src/cli/run.js";
import { verifyCommand } from "../../../src/cli/verify.js";

const id = "7f0c2b1a-5d3e-4c6f-8a9b-0c1d2e3f4a5b";

function problemsOf(line: string, command: typeof runCommand | typeof verifyCommand, there: readonly string[] = []) {
  const read = readLine(line.split(" ").filter(Boolean), { ...globalOptions, ...command.options });
  return checkLine(read, command, (path) => there.includes(path)).map(({ path, message }) =>
    path === "" ? message : `${path}: ${message}`,
  );
}

test.each([
  ["job.yaml --format csv,parquet -q", []],
  [
    "--base-ulr x --concurency 3",
    ["unknown flag --base-ulr; did you mean --base-url?", "unknown flag --concurency; did you mean --concurrency?"],
  ],
  ["--baseUrl x", ["unknown flag --baseUrl; did you mean --base-url?"]],
  ["--nosuch --nosuch=3", ["unknown flag --nosuch; kbdump run --help lists the flags"]],
  ["--retry", ["unknown flag --retry; did you mean --retry-failed?"]],
  ["--output-dir x", ["unknown flag --output-dir; did you mean --out?"]],
  ["-json", ["unknown flag -json; did you mean --json?"]],
  ["-x", ["unknown flag -x; kbdump run --help lists the flags"]],
  [
    "--api-key dataset-0123456789abcdefgh",
    ["unknown flag --api-key; the key is never on the command line: put it in the environment, as KNOWLEDGE_API_KEY"],
  ],
  ["-dataset-0123456789abcdefgh", ["unknown flag a value that is not shown; did you mean --dataset?"]],
  ["--out --json", ["--out: expected a value: output folder"]],
  ["--out -5", []],
  ["--json=maybe", ['--json: got "maybe", expected true or false']],
  ["--log-format xml", ['--log-format: got "xml", expected text or json']],
  ["--log-format", ["--log-format: got nothing, expected text or json"]],
  ["--out a -o b --json --no-json", ["--out: given more than once"]],
  ["--fresh --retry-failed", ["--fresh: not together with --retry-failed"]],
  ["--no-fresh --retry-failed", []],
  [
    "a b c",
    ['unexpected argument "b"; expected kbdump run [job]', 'unexpected argument "c"; expected kbdump run [job]'],
  ],
  ["--format csv parquet", ["--format: write --format csv,parquet"]],
  ["--format csv parquet duckdb job.yaml", ["--format: write --format csv,parquet,duckdb"]],
  [`--document ${id} ${id}`, [`--document: write --document ${id},${id}`]],
  ["--format csv job.yaml", []],
])("run %s: %j", (line, problems) => {
  expect(problemsOf(line, runCommand)).toEqual(problems);
});

test("a file of the name is a job file, whatever stands before it", () => {
  expect(problemsOf("--format csv parquet", runCommand, ["parquet"])).toEqual([]);
});

test.each([
  ["", ["<run> is missing: run folder, or a job: its newest complete run. Example: kbdump verify nightly"]],
  ["--dukdb folder", ["unknown flag --dukdb; did you mean --duckdb?"]],
  ["--duckdb folder", []],
  ["folder --duckdb file", ['unexpected argument "file"; a value of --duckdb follows =, as in --duckdb=PATH']],
])("verify %s: %j", (line, problems) => {
  expect(problemsOf(line, verifyCommand)).toEqual(problems);
});
