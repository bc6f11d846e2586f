import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const dlt = "dlt[duckdb,parquet]==1.31.0";
const elasticdump = "elasticdump@6.125.1";

export interface Tools {
  /** The path of a Python with dlt and DuckDB. */
  readonly python: string;
  /** The path of elasticdump's script. */
  readonly elasticdump: string;
}

/** The folder that keeps the tools for the next time. */
export function cacheFolder(): string {
  return join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "kbdump-compare");
}

/**
 * Installs dlt and elasticdump in `cache`, unless they are installed already. Passes messages to `report`. Rejects with an error that
 * names the missing part: Python, its venv module, npm or the network.
 */
export async function installTools(cache: string, report: (line: string) => void): Promise<Tools> {
  const venv = join(cache, dlt.replace(/\W+/g, "-"));
  const modules = join(cache, elasticdump.replace(/\W+/g, "-"));
  const python = join(venv, "bin", "python");
  await once(venv, dlt, report, async () => {
    await step(
      "python3",
      ["-m", "venv", venv],
      "Install Python 3.10 or later with its module venv (in Debian: apt-get install python3-venv).",
    );
    await step(
      python,
      ["-m", "pip", "install", "--quiet", dlt],
      "This needs the Python Package Index: check the network, or the mirror that pip is set up for.",
    );
  });
  await once(modules, elasticdump, report, async () => {
    const args = ["install", "--prefix", modules, "--no-audit", "--no-fund", elasticdump];
    await step("npm", args, "This needs the npm registry: check the network, or the mirror that npm is set up for.");
  });
  return { python, elasticdump: join(modules, "node_modules", "elasticdump", "bin", "elasticdump") };
}

/** Does the work of an installation, unless an earlier one finished. */
async function once(
  folder: string,
  name: string,
  report: (line: string) => void,
  work: () => Promise<void>,
): Promise<void> {
  const done = join(folder, "installed");
  if (existsSync(done)) return;
  report(`installing ${name} in ${folder}`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await work();
  await writeFile(done, "");
}

async function step(command: string, args: readonly string[], hint: string): Promise<void> {
  try {
    await promisify(execFile)(command, args);
  } catch (error) {
    throw new Error(`npm run compare could not run "${command} ${args.join(" ")}": ${reasonOf(error)}\n${hint}`);
  }
}

/** The last lines of a program's output, or why it could not start. */
function reasonOf(error: unknown): string {
  const { code, stderr = "", stdout = "" } = error as { code?: unknown; stderr?: string; stdout?: string };
  if (code === "ENOENT") return "there is no such program on the PATH";
  return (stderr.trim() || stdout.trim() || String(error)).split("\n").slice(-4).join("\n");
}
