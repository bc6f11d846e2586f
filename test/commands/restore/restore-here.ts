import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runCommandLine } from "../../../src/cli/cli.js";
import type { Environment } from "../../../src/cli/command.js";
import { outputFlags, printError } from "../../../src/cli/output.js";
import { copyCommand } from "../../../src/commands/copy.js";
import { restoreCommand } from "../../../src/commands/restore.js";
import type { CopyRun } from "../../../src/restore/copy/copy-result.js";
import type { RestoreLost } from "../../../src/restore/lost/restore-options.js";
import { testFolder } from "../../run/job-for.js";

const env = { KNOWLEDGE_RESTORE_KEY: "dataset-write" };
const unasked = () => Promise.reject(new Error("this kind of restore was not asked for"));

/** Fake implementations of `restore` and `copy`. */
interface Restores {
  readonly lost: () => Promise<RestoreLost>;
  readonly copy: () => Promise<CopyRun>;
}

/** Runs `restore` or `copy` with fake implementations, outside a terminal by default; returns the outcome. */
export async function restoreHere(
  args: readonly string[],
  restores: Partial<Restores>,
  given: Partial<Pick<Environment, "env" | "openTerminal">> = {},
) {
  const said = { stdout: "", stderr: "" };
  const into = (name: keyof typeof said) => ({
    write: (text: string, written?: () => void) => {
      said[name] += text;
      written?.();
    },
  });
  const environment = {
    program: () => "kbdump",
    stdout: into("stdout"),
    stderr: into("stderr"),
    env,
    signal: new AbortController().signal,
    interrupt: () => {},
    committing: () => {},
    ...given,
  };
  const name = restores.copy ? "copy" : "restore";
  const line = [name, ...args];
  const { lost = unasked, copy = unasked } = restores;
  const load = async () => (restores.copy ? copyCommand(copy) : restoreCommand(lost));
  const known = { names: () => [name], load };
  const code = await runCommandLine(line, environment, known).catch((error) =>
    printError(error, outputFlags(line), environment),
  );
  return { code, ...said };
}

/** Makes a folder that looks like a run. */
export async function runFolder(name = "old"): Promise<string> {
  const folder = join(await testFolder(), name);
  await mkdir(folder);
  await writeFile(join(folder, "manifest.json"), "{}");
  return folder;
}
