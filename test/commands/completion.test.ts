import { spawnSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commands } from "../../src/cli/cli.js";
import { loadAll } from "../../src/cli/registry.js";
import { isShell, renderCompletion, shells } from "../../src/commands/completion.js";
import { runHere } from "../cli/run-here.js";
import { testFolder } from "../run/job-for.js";

const loaded = await loadAll(commands);
const isInstalled = (shell: string) => spawnSync(shell, ["-c", "true"]).status === 0;

/** A folder with a job file, a file of another kind and a folder, and the script of a shell in it. */
async function placeFor(shell: "bash" | "zsh" | "fish") {
  const folder = await testFolder();
  const script = join(folder, "completion.txt");
  await writeFile(script, renderCompletion(shell, loaded));
  await mkdir(join(folder, "output"));
  await writeFile(join(folder, "my job.yaml"), "");
  return { folder, script };
}

test.each(shells)("%s: every command and every flag is in the script", (shell) => {
  const script = isShell(shell) ? renderCompletion(shell, loaded) : "";
  for (const { name, options } of loaded) {
    expect(script).toContain(name.split(" ")[0]);
    for (const flag of Object.keys(options)) expect(script).toMatch(new RegExp(`(--|-l )${flag}\\b`));
  }
});

test("bash proposes commands, flags, words, lists and files", async () => {
  const { folder, script } = await placeFor("bash");
  const proposed = (...words: readonly string[]) => {
    const line = `source "${script}"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _kbdump; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", line, "bash", "kbdump", ...words], {
      cwd: folder,
      encoding: "utf8",
    });
    expect(stderr).toBe("");
    return stdout.trimEnd().split("\n");
  };
  expect(proposed("")).toEqual([...commands.names(), "help"]);
  expect(proposed("st")).toEqual(["status"]);
  expect(proposed("--v")).toEqual(["--version"]);
  expect(proposed("help", "pl")).toEqual(["plan"]);
  expect(proposed("run", "--fo")).toEqual(["--format"]);
  expect(proposed("run", "--log-format", "")).toEqual(["text", "json"]);
  expect(proposed("--log-format", "json", "run", "--fre")).toEqual(["--fresh"]);
  expect(proposed("run", "--format", "csv,p")).toEqual(["csv,parquet"]);
  expect(proposed("run", "--child-chunks", "=", "a")).toEqual(["all", "auto"]);
  expect(proposed("run", "--base-url", "")).toEqual([""]);
  expect(proposed("run", "")).toEqual(["output", "my job.yaml"]);
  expect(proposed("verify", "")).toEqual(["output"]);
  expect(proposed("run", "-o", "o")).toEqual(["output"]);
  expect(proposed("run", "--env-file", "comp")).toEqual(["completion.txt"]);
  expect(proposed("completion", "")).toEqual(["bash", "zsh", "fish"]);
});

test.skipIf(!isInstalled("fish"))("fish proposes the same (skipped where fish is not installed)", async () => {
  const { folder, script } = await placeFor("fish");
  const proposed = (line: string) => {
    const { stdout } = spawnSync("fish", ["-N", "-c", `source "${script}"; complete -C "$argv[1]"`, line], {
      cwd: folder,
      encoding: "utf8",
    });
    return stdout
      .trimEnd()
      .split("\n")
      .map((proposal) => proposal.split("\t")[0]);
  };
  expect(proposed("kbdump st")).toEqual(["status"]);
  expect(proposed("kbdump run --fo")).toEqual(["--format"]);
  expect(proposed("kbdump run --child-chunks a")).toEqual(["all", "auto"]);
  expect(proposed("kbdump run --format csv,p")).toEqual(["csv,parquet"]);
  expect(proposed("kbdump verify o")).toEqual(["output/"]);
});

test.skipIf(!isInstalled("zsh"))("zsh takes the script (skipped where zsh is not installed)", async () => {
  const { script } = await placeFor("zsh");
  expect(spawnSync("zsh", ["-n", script], { encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });
});

test("a description can hold quotes and brackets without breaking the script", () => {
  const run = loaded.find(({ name }) => name.startsWith("run "));
  if (run === undefined) throw new Error("there is no command");
  const odd = {
    ...run,
    about: "it's: a [test]",
    options: { odd: { type: "string", describe: "it's: a [test]" } },
  } as const;
  expect(renderCompletion("zsh", [odd])).toContain("'run:it'\\''s\\: a [test]'");
  expect(renderCompletion("zsh", [odd])).toContain("'[it'\\''s: a \\[test\\]]:odd: '");
  expect(renderCompletion("fish", [odd])).toContain("-d 'it\\'s: a [test]'");
});

test("the command prints the script for the shell that is named, else for that of SHELL", async () => {
  const bash = `${renderCompletion("bash", loaded)}\n`;
  expect(await runHere(["completion", "bash"])).toEqual({ code: 0, stdout: bash, stderr: "" });
  expect(await runHere(["completion"], { SHELL: "/usr/local/bin/bash" })).toMatchObject({ code: 0, stdout: bash });
  const { stdout } = await runHere(["completion", "fish", "--json"]);
  expect(JSON.parse(stdout)).toEqual({ status: "complete", shell: "fish", script: renderCompletion("fish", loaded) });
});
