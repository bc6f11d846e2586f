import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Manifest } from "../../src/dump/manifest.js";
import { hashesOf } from "../faults/published-files.js";

/** Watches a folder of runs: each new run must be whole as soon as it appears. */
export function watchRuns(runs: string): { readonly stop: () => Promise<readonly string[]> } {
  const problems: string[] = [];
  const seen = new Set<string>();
  let isWatching = true;
  const look = async () => {
    for (const name of await readdir(runs).catch((): string[] => [])) {
      if (seen.has(name)) continue;
      seen.add(name);
      problems.push(...(await problemsOf(join(runs, name))).map((problem) => `${name}: ${problem}`));
    }
  };
  const watching = (async () => {
    while (isWatching) {
      await look();
      await sleep(15);
    }
    await look();
  })();
  const stop = async () => {
    isWatching = false;
    await watching;
    return problems;
  };
  return { stop };
}

/** The files of a run folder that are missing or whose bytes do not match its manifest. */
async function problemsOf(folder: string): Promise<readonly string[]> {
  const text = await readFile(join(folder, "manifest.json"), "utf8").catch(() => undefined);
  if (text === undefined) return ["it has no manifest"];
  const manifest: Manifest = JSON.parse(text);
  const real = await hashesOf(folder);
  const wrong = manifest.files.filter(({ path, sha256 }) => real.get(path) !== sha256);
  const complete = manifest.status === "complete" ? [] : [`it is ${manifest.status}`];
  return [...wrong.map(({ path }) => `${path} is not as listed`), ...complete];
}
