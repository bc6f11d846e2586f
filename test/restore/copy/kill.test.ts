import { expect, test } from "vitest";
import { copyRun } from "../../../src/restore/copy/copy-run.js";
import { finished, runKbdump, startKbdump } from "../../cli/run-kbdump.js";
import { inFull, rounds } from "../../rounds.js";
import type { Fate } from "../../servers/lossy-wire.js";
import { backUp, key } from "./back-up.js";
import { copying } from "./copying.js";
import { type CopiedDataset, readCopies } from "./random/copies.js";
import type { DrawnChild, DrawnChunk, Scenario } from "./random/scenario.js";

const env = { KNOWLEDGE_RESTORE_KEY: key };

/** One document that needs every kind of write. */
const drawn: Scenario = {
  technique: "high_quality",
  tags: ["blue"],
  documents: [
    {
      ...{ name: "one.txt", form: "hierarchical_model", state: "disabled", value: "pumps" },
      chunks: [
        chunk("One. Two.", [child("One."), child("By hand.")]),
        { ...chunk("Three.", [child("Three.")]), isEnabled: false },
        chunk("Four. Five.", [child("Six."), child("Five.")]),
      ],
    },
  ],
  ...{ cap: 2, fates: [], breaks: [], frozenAt: null, planted: null, unindexed: 0 },
};

/** The writes of an uninterrupted copy, by method and path, in order. */
const writes = [
  "POST /datasets",
  "POST metadata",
  "POST tags",
  "POST binding",
  "POST create-by-text",
  "DELETE segments",
  "POST segments",
  "DELETE child_chunks",
  "POST child_chunks",
];

/** The kills to test: the number of the write at which the process is killed, from 1, and whether the service receives that write. */
const moments: readonly (readonly [number, Fate])[] = [
  [7, "lose answer"],
  ...Array.from({ length: 18 }, (_, at) => [
    [at + 1, "lose answer"] as const,
    [at + 1, "lose request"] as const,
  ]).flat(),
];

test.runIf(inFull).each(moments.slice(0, rounds(1, moments.length)))(
  "kill -9 at write %d (%s): the same command copies the rest, and nothing twice",
  async (number, fate) => {
    const { target, wire, folder } = await backUp(drawn);
    const args = ["copy", folder, "--to", wire.url, "--apply", "--yes", "--settle", "1", "--lock-time", "1"];
    const child = startKbdump(args, env);
    let seen = 0;
    wire.decide = () => {
      if (++seen !== number) return "pass";
      child.kill("SIGKILL");
      return fate;
    };
    const first = await finished(child);
    if (seen < number) {
      expect(first.code).toBe(0); // the copy has fewer writes
      return;
    }
    expect(first.code).toBeNull();
    const { code, stdout, stderr } = await runKbdump([...args, "--json"], env);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(JSON.parse(stdout)).toMatchObject({ status: "proved", differences: [] });
    const whole = await untouched();
    expect(withoutIds(await readCopies(target.url, key))).toEqual(withoutIds(whole.copies));
    // The second process tests again how many chunks a request may add. It repeats the interrupted write if the service did not
    // receive it, or if the write set the state of the document.
    expect(seen - whole.seen, stderr).toBeLessThanOrEqual(2);
  },
  60_000,
);

test.runIf(inFull)("the moments of the kill cover every kind of write", async () => {
  const { kinds } = await untouched();
  for (const kind of writes) expect(kinds).toContain(kind);
  expect(kinds.length).toBeLessThanOrEqual(18);
});

let whole: ReturnType<typeof copyWhole> | undefined;

/** The result of an uninterrupted copy, and its writes; the same for all tests. */
function untouched() {
  whole ??= copyWhole();
  return whole;
}

async function copyWhole() {
  const { target, wire, folder, kinds } = await backUp(drawn);
  const { status } = await copyRun(copying(folder, { url: wire.url, key }));
  expect(status).toBe("proved");
  return { copies: await readCopies(target.url, key), kinds, seen: kinds.length };
}

function withoutIds(copies: readonly CopiedDataset[]): unknown {
  return JSON.parse(JSON.stringify(copies, (name, value) => (name === "id" ? undefined : value)));
}

function chunk(content: string, children: readonly DrawnChild[]): DrawnChunk {
  return { content, answer: "", keywords: ["pump"], isEnabled: true, children };
}

function child(text: string): DrawnChild {
  return { text, isCustomized: text === "By hand." };
}
