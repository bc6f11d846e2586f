import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkLine, withEnvFiles } from "../../src/cli/check-command-line.js";
import { type Command, commonOptions } from "../../src/cli/command.js";
import { globalOptions, readLine } from "../../src/cli/parse-command-line.js";
import { command as runCommand } from "../../src/commands/run.js";
import { command as verifyCommand } from "../../src/commands/verify.js";
import { testFolder } from "../run/job-for.js";

const id = "7f0c2b1a-5d3e-4c6f-8a9b-0c1d2e3f4a5b";

function problemsOf(line: string, command: Command, there: readonly string[] = []) {
  const read = readLine(line.split(" ").filter(Boolean), { ...globalOptions, ...command.options, ...commonOptions });
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
  ["--out --json", ["--out: expected a value: output folder, or s3://bucket/prefix"]],
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

test("a file of the name is a job file, whatever precedes it", () => {
  expect(problemsOf("--format csv parquet", runCommand, ["parquet"])).toEqual([]);
});

test.each([
  [
    "",
    [
      "<run> is missing: run folder, or a job (its newest complete run), or a job and a run, as in nightly@20261119. Example: kbdump verify nightly",
    ],
  ],
  ["--dukdb folder", ["unknown flag --dukdb; did you mean --duckdb?"]],
  ["--duckdb folder", []],
  ["folder --duckdb file", ['unexpected argument "file"; a value of --duckdb follows =, as in --duckdb=PATH']],
])("verify %s: %j", (line, problems) => {
  expect(problemsOf(line, verifyCommand)).toEqual(problems);
});

test("the environment wins over the files, and a later file over an earlier one", async () => {
  const folder = await testFolder();
  const [first, second] = [join(folder, "first.env"), join(folder, "second.env")];
  await writeFile(first, "A=1\nexport B='x y' # blank\nC=1\n");
  await writeFile(second, "B=2\nD=\n");
  expect(await withEnvFiles({ C: "set", E: "" }, [first, second])).toEqual({ A: "1", B: "2", C: "set", D: "", E: "" });
  expect(await withEnvFiles({}, [second, first])).toMatchObject({ B: "x y" });
});

test.each([
  ["nothing.env", "there is no such file"],
  [".", "it is a folder"],
])("%s: a wrong command line", async (file, reason) => {
  await expect(withEnvFiles({}, [file])).rejects.toMatchObject({
    name: "UsageError",
    message: `cannot read the environment file "${file}": ${reason}`,
  });
});
