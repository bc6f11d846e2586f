import { spawnSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { commands } from "../../src/cli/cli.js";
import { completionScript } from "../../src/cli/completion.js";
import { runHere } from "../cli/run-here.js";
import { inFull } from "../rounds.js";
import { testFolder } from "../run/job-for.js";

const main = join(import.meta.dirname, "../../dist/main.js");
const isInstalled = (shell: string) => spawnSync(shell, ["-c", "true"]).status === 0;

/**
 * A folder with `kbdump` in its PATH, a job file with a blank in its name, a subfolder, and the completion script for a
 * shell.
 */
async function placeFor(shell: "bash" | "zsh") {
  const folder = await testFolder();
  const script = join(folder, "completion.txt");
  await writeFile(script, await completionScript(shell));
  await mkdir(join(folder, "output"));
  await mkdir(join(folder, "bin"));
  await writeFile(join(folder, "my job.yaml"), "");
  await writeFile(join(folder, "bin/kbdump"), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`, {
    mode: 0o755,
  });
  const env = { ...process.env, PATH: `${join(folder, "bin")}${delimiter}${process.env.PATH}`, SHELL: shell };
  return { folder, script, env };
}

test.runIf(inFull)("bash proposes commands, flags and values, or else files", async () => {
  const { folder, script, env } = await placeFor("bash");
  const proposed = (...words: readonly string[]) => {
    const run = `source "${script}"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _kbdump_yargs_completions; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", run, "bash", "kbdump", ...words], {
      ...{ cwd: folder, encoding: "utf8", env },
    });
    expect(stderr).toBe("");
    return stdout.trimEnd().split("\n");
  };
  expect(proposed("")).toEqual(commands.names());
  expect(proposed("st")).toEqual(["status"]);
  expect(proposed("run", "--fo")).toEqual(["--format"]);
  expect(proposed("run", "--log-format", "")).toEqual(["text", "json"]);
  expect(proposed("run", "--child-chunks", "a")).toEqual(["all", "auto"]);
  expect(proposed("completion", "b")).toEqual(["bash"]);
  expect(proposed("run", "--out", "comp")).toEqual([""]);
  const { stdout } = spawnSync("bash", ["--norc", "-c", `source "${script}"; complete -p kbdump`], {
    encoding: "utf8",
  });
  expect(stdout).toContain("-o default"); // bash completes file names where kbdump suggests nothing
});

test.skipIf(!isInstalled("zsh"))(
  "zsh takes the script, and shows meanings (skipped where zsh is not installed)",
  async () => {
    const { script, env } = await placeFor("zsh");
    expect(spawnSync("zsh", ["-n", script], { encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });
    const { stdout } = spawnSync("kbdump", ["--get-yargs-completions", "kbdump", "pr"], { encoding: "utf8", env });
    expect(stdout.split("\n")).toContain("prune:remove the runs that the job's output.keep does not keep");
  },
);

test("the command prints the script for the named shell, or else for the one in SHELL", async () => {
  const bash = `${await completionScript("bash")}\n`;
  expect(await runHere(["completion", "bash"])).toEqual({ code: 0, stdout: bash, stderr: "" });
  expect(await runHere(["completion"], { SHELL: "/usr/local/bin/bash" })).toMatchObject({ code: 0, stdout: bash });
  const { stdout } = await runHere(["completion", "zsh", "--json"]);
  expect(JSON.parse(stdout)).toEqual({ status: "complete", shell: "zsh", script: await completionScript("zsh") });
});
