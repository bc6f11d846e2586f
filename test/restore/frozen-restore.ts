import { readdir, readFile, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Finished, finished, startKbdump } from "../cli/run-kbdump.js";

/** A restore that is frozen after it logged a write and before it sent it. */
export interface FrozenRestore {
  /** Lets it continue and waits until it ends. */
  readonly wake: () => Promise<Finished>;
}

/**
 * Starts `kbdump restore` or `kbdump copy` for a run at eight requests a second and stops it with SIGSTOP when its
 * journal contains this many writes. Then removes its lock, like a user who believes that it is gone, so that the next
 * restore takes over. Undefined if it ended first.
 */
export async function freezeRestore(
  runFolder: string,
  flags: readonly string[],
  key: string,
  number: number,
): Promise<FrozenRestore | undefined> {
  const before = await writesNoted(runFolder);
  const args = [
    flags.includes("--to") ? "copy" : "restore",
    runFolder,
    ...flags,
    "--apply",
    "--yes",
    "--max-rps",
    "8",
    "--settle",
    "0",
    "--lock-time",
    "0",
  ];
  const child = startKbdump(args, { KNOWLEDGE_RESTORE_KEY: key });
  const ended = finished(child);
  while ((await writesNoted(runFolder)) < before + number) {
    if (child.exitCode !== null) return undefined;
    await delay(2);
  }
  child.kill("SIGSTOP");
  for (const lock of await filesNamed(runFolder, /^lock$/)) await rm(lock);
  return {
    wake: async () => {
      child.kill("SIGCONT");
      return ended;
    },
  };
}

/** The number of writes in all journals of a run. */
async function writesNoted(runFolder: string): Promise<number> {
  const journals = await filesNamed(runFolder, /^journal\.jsonl$/);
  const texts = await Promise.all(journals.map((path) => readFile(path, "utf8").catch(() => "")));
  return texts.join("").split('"kind":"intent"').length - 1;
}

async function filesNamed(runFolder: string, name: RegExp): Promise<readonly string[]> {
  const folder = `${runFolder}.restore`;
  const entries = await readdir(folder, { recursive: true }).catch(() => []);
  return entries.filter((entry) => name.test(basename(entry))).map((entry) => join(folder, entry));
}
