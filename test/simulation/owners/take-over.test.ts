import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { JobLocation } from "../../../src/job/job.js";
import { takeOver } from "../../../src/store/folder/fence.js";
import { foldersOf, type OwnFolder } from "../../../src/store/folder/job-folders.js";
import { type Owner, thisOwner } from "../../../src/store/folder/lock-owner.js";
import { rounds } from "../../rounds.js";
import { testFolder } from "../../run/job-for.js";
import { integer, type Random, randomFrom } from "../../servers/random.js";

/**
 * Plays the steps of taking over a job while its owner still publishes. Before any step, the owner may continue, and the process that
 * takes over may be killed, or frozen and woken later, when another one takes over. A folder is not emptied at once: a part of its
 * files may be gone when the owner continues.
 *
 * KBDUMP_OWNER_SEEDS: the number of seeds. KBDUMP_STEPS_SEED: one seed, with its trace.
 */
const { KBDUMP_STEPS_SEED } = process.env;
const seeds = KBDUMP_STEPS_SEED
  ? [Number(KBDUMP_STEPS_SEED)]
  : Array.from({ length: rounds(50, 500, "KBDUMP_OWNER_SEEDS") }, (_, at) => at + 1);

const runId = "20261120T020000000Z";
const committed = "committed row\n";
const now = new Date("2026-11-22T02:00:00Z");
const here = await thisOwner(now);
const elsewhere = { ...here, host: "elsewhere" }; // may still run
const dead = { ...here, pid: spawnSync(process.execPath, ["-e", ""]).pid };

test(`${seeds.length} times: the owner publishes before the takeover ends or not at all, and no work is lost`, {
  timeout: Math.max(60_000, seeds.length * 500),
}, async () => {
  const met = new Set<string>();
  for (const seed of seeds) {
    const played = await play(randomFrom(seed));
    for (const what of played.met) met.add(what);
    const trace = played.trace.join("\n");
    if (KBDUMP_STEPS_SEED) process.stderr.write(`${trace}\n`);
    if (played.wrong.length > 0) expect.fail(`KBDUMP_STEPS_SEED=${seed}\n${played.wrong.join("\n")}\n\n${trace}`);
  }
  const all = ["frozen", "killed", "published", "refused after it opened its folder", "refused", "woken"];
  if (seeds.length > 1) expect([...met].sort()).toEqual(all.sort());
});

test.each([
  ["the owner's folder is renamed", /^rename .*\.work\/[^/]+$/],
  ["its inner folders are renamed", /^rename .*\.gone$/],
  ["the folder is emptied", /^empty/],
])("the judge detects a takeover that ends too early, before %s", { timeout: 60_000 }, async (_name, endsBefore) => {
  for (let seed = 1; seed <= 2_000; seed++) if ((await play(randomFrom(seed), endsBefore)).wrong.length > 0) return;
  expect.fail("not detected");
});

/** A process that takes over. */
interface Successor extends OwnFolder {
  readonly steps: ReturnType<typeof takeOver>;
}

/** Plays one seed. `endsBefore`: a step before which every takeover wrongly ends. */
async function play(random: Random, endsBefore?: RegExp) {
  const dir = await testFolder();
  const folders = foldersOf({ name: "job", output: { dir } } as JobLocation);
  const [trace, met, wrong] = [[] as string[], new Set<string>(), [] as string[]];
  let owners = 0;
  const open = (facts: Owner): OwnFolder => {
    const own = join(folders.private, `5fd3c9ab-0000-4000-8000-${String(++owners).padStart(12, "0")}`);
    fs.mkdirSync(join(own, "from"), { recursive: true });
    fs.writeFileSync(join(own, "owner.json"), JSON.stringify(facts));
    return { ...folders, own };
  };
  const start = (replaced: { readonly id: string; readonly isDead: boolean } | undefined, facts: Owner): Successor => {
    const owned = open(facts);
    return { ...owned, steps: takeOver(owned, { owner: { ...here, id: owned.own.slice(-36) }, replaced }, now) };
  };
  /** Makes the next change of a process; false after its end. */
  const step = async ({ own, steps }: Successor): Promise<boolean> => {
    const { done, value } = await steps.next().catch((error: unknown) => ({ done: true, value: String(error) }));
    trace.push(`${own.slice(-1)}: ${value ?? "is done"}`);
    const [, emptied] = /^empty (.*)$/.exec(String(value)) ?? [];
    if (emptied !== undefined && fs.existsSync(emptied) && random() < 0.5) {
      removeSome(emptied, random);
      letOwnerContinue();
    }
    return !done && !endsBefore?.test(String(value));
  };

  const owner = new PublishingOwner(open(elsewhere));
  const letOwnerContinue = () => {
    const did = owner.continue();
    if (did) trace.push(`1: ${did}`);
  };
  const frozen: Successor[] = [];
  let replaced: { readonly id: string; readonly isDead: boolean } = { id: owner.id, isDead: false };
  for (let count = integer(random, 0, 2); count > 0; count--) {
    const isKilled = random() < 0.5;
    const successor = start(replaced, isKilled ? dead : elsewhere);
    // A process frozen before its second step would notice on waking that it lost the lock.
    for (let steps = integer(random, isKilled ? 0 : 2, 20); steps > 0; steps--) {
      if (random() < 0.1) letOwnerContinue();
      if (!(await step(successor))) break;
    }
    replaced = { id: successor.own.slice(-36), isDead: isKilled };
    if (!isKilled) frozen.push(successor);
    met.add(isKilled ? "killed" : "frozen");
    trace.push(`${successor.own.slice(-1)} is ${isKilled ? "killed" : "frozen"}`);
  }
  const last = start(replaced, here);
  for (let isActive = true; isActive; isActive = await step(last)) {
    if (random() < 0.1) letOwnerContinue();
    const woken = random() < 0.2 ? frozen[0] : undefined;
    if (woken && (await step(woken))) met.add("woken");
  }
  const isPublished = fs.existsSync(join(folders.runs, runId));
  for (const late of frozen) while (await step(late));
  while (!owner.outcome) letOwnerContinue();
  met.add(owner.outcome);
  owner.close();

  if (fs.existsSync(join(folders.runs, runId)) && !isPublished)
    wrong.push("the owner published after its successor took over");
  if (isPublished && !owner.isWhole(join(folders.runs, runId))) wrong.push("the published run is not whole");
  const rows = join(last.own, runId, "segments", "1.chunks.jsonl");
  const isKept = fs.existsSync(rows) && fs.readFileSync(rows, "utf8").startsWith(committed);
  if (!isPublished && !isKept) wrong.push("the committed rows are lost");
  const left = fs.readdirSync(folders.private).filter((name) => name !== "fenced" && !last.own.endsWith(name));
  left.push(...fs.readdirSync(join(last.own, "from")));
  if (left.length > 0) wrong.push(`.work still has ${left}`);
  fs.rmSync(dir, { recursive: true });
  return { trace, met, wrong };
}

/** Removes a part of the files below a folder. */
function removeSome(folder: string, random: Random): void {
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile() && random() < 0.3) fs.rmSync(join(entry.parentPath, entry.name));
}

/** An owner that adds a row and publishes its run. It opens the folders first, and renames later, as a network drive does. */
class PublishingOwner {
  outcome: "published" | "refused" | "refused after it opened its folder" | undefined;
  readonly id: string;
  readonly #owned: OwnFolder;
  readonly #staged = ["chunks.jsonl", "documents.jsonl", "manifest.json"];
  readonly #files: number[] = [];
  #folders: readonly [from: number, to: number] | undefined;

  constructor(owned: OwnFolder) {
    this.#owned = owned;
    this.id = owned.own.slice(-36);
    const work = join(owned.own, runId);
    for (const name of ["segments", "stage"]) fs.mkdirSync(join(work, name), { recursive: true });
    fs.mkdirSync(owned.runs, { recursive: true });
    fs.writeFileSync(join(work, "plan.json"), "{}");
    fs.writeFileSync(join(work, "segments", "1.chunks.jsonl"), committed);
    for (const name of this.#staged) fs.writeFileSync(join(work, "stage", name), name);
    this.#files.push(fs.openSync(join(work, "segments", "1.chunks.jsonl"), "a"));
  }

  /** Makes the next change, and returns what it was; undefined if there is none left. */
  continue(): string | undefined {
    if (this.outcome) return undefined;
    try {
      if (!this.#folders) {
        fs.writeSync(this.#files[0] ?? -1, "a row that is not committed\n");
        this.#folders = [this.#openFolder(join(this.#owned.own, runId)), this.#openFolder(this.#owned.runs)];
        return "opens the folders";
      }
      const [from, to] = this.#folders.map((file) => `/proc/self/fd/${file}`) as [string, string];
      fs.renameSync(join(from, "stage"), join(to, runId));
      this.outcome = "published";
    } catch {
      this.outcome = this.#folders ? "refused after it opened its folder" : "refused";
    }
    return this.outcome;
  }

  #openFolder(path: string): number {
    const file = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
    this.#files.push(file);
    return file;
  }

  isWhole(folder: string): boolean {
    return this.#staged.every((name) => fs.existsSync(join(folder, name)));
  }

  close(): void {
    for (const file of this.#files) fs.closeSync(file);
  }
}
