import { afterEach, expect, test, vi } from "vitest";
import { drawMoving } from "../moving/draw-moving.js";
import { play } from "../play.js";
import type { AnyFault, DocumentShape, EditKind, FaultShape, JobShape, Scenario, ScriptedEdit } from "../scenario.js";
import { broken, type Rule } from "./broken.js";

/** Removes one rule of the program at a time. The judge must detect that, and must find nothing wrong with the rule in place. */
vi.mock("node:fs", async (original) => (await import("../files.js")).simulatedFs(await original()));
vi.mock("node:fs/promises", async (original) => (await import("../files.js")).simulatedPromises(await original()));
vi.mock("../../../src/segments/sweep-document.js", async (original) =>
  (await import("./broken.js")).withoutSweeps(await original()),
);
vi.mock("../../../src/crawl/sweep-list.js", async (original) =>
  (await import("./broken.js")).withoutSweepOfDocuments(await original()),
);
vi.mock("../../../src/crawl/read-anchored.js", async (original) =>
  (await import("./broken.js")).withoutProofOfOrder(await original()),
);
vi.mock("../../../src/crawl/child-lists.js", async (original) =>
  (await import("./broken.js")).withoutContainment(await original()),
);
vi.mock("../../../src/crawl/crawl-document.js", async (original) =>
  (await import("./broken.js")).withoutUnreadable(await original()),
);
vi.mock("../../../src/client/retry.js", async (original) =>
  (await import("./broken.js")).withMoreTries(await original()),
);
vi.mock("../../../src/client/limit-requests.js", async (original) =>
  (await import("./broken.js")).withMoreRefusals(await original()),
);

afterEach(() => {
  broken.rule = undefined;
});

interface Change {
  readonly job?: Partial<JobShape>;
  readonly document?: Partial<DocumentShape>;
  readonly kinds?: readonly EditKind[];
  readonly rate?: number;
  readonly script?: readonly ScriptedEdit[];
  readonly service?: Partial<Scenario["service"]>;
  readonly faults?: Partial<FaultShape>;
  readonly interruptions?: Scenario["interruptions"];
}

/** A drawn scenario in which the rule matters. */
function scenarioOf(
  seed: number,
  { job, document, kinds, rate = 0.2, script, service, faults, interruptions }: Change,
): Scenario {
  const drawn = drawMoving(seed);
  const edits = kinds ? { ...drawn.edits, kinds, rate: Math.max(rate, drawn.edits.rate) } : drawn.edits;
  const [first] = drawn.documents;
  const documents = job?.documents === "all" || !first ? drawn.documents : [first];
  return {
    ...drawn,
    job: { ...drawn.job, documents: "named", ...job },
    documents: documents.map((shape) => ({ ...shape, unreadable: { chunks: [], status: 400 }, ...document })),
    faults: { ...drawn.faults, kinds: [], rate: 0, heavy: 0, ...faults },
    service: { ...drawn.service, ...service },
    edits: { ...edits, most: Math.max(10, edits.most), ...(script ? { script } : {}) },
    interruptions: interruptions ?? drawn.interruptions,
  };
}

/** With this clock, no row looks recent, so only ranks and positions show that a row was added. */
const wrongClock = { clockAhead: 3_600 };
/**
 * At the same moment, so that the total stays: deletes a chunk, and inserts one right before the first row of the last page, which
 * was read already.
 */
const tieAtOnce: ScriptedEdit = { before: "page=2&", deleted: [5], added: [13] };
/**
 * Two adds took positions 12 and 14. The row of the first is stored late, before the first row of the last page, which was read
 * already.
 */
const slowAdd: readonly ScriptedEdit[] = [
  { before: "page=1&", deleted: [12], added: [14] },
  { before: "page=3&", deleted: [5], added: [12] },
];
const long = { chunks: 13, ties: 0 };
const hierarchical = {
  form: "hierarchical_model",
  embeds: true,
  embedsOld: true,
  bigEvery: 1,
  big: 22,
  chunks: 4,
} as const;
/** Repeats these faults more often in a row than a page may be tried. */
const often = (kinds: readonly AnyFault[], inARow: number) => ({ faults: { kinds, rate: 0.9, inARow } });
const planLimit: AnyFault = {
  kind: "status",
  status: 403,
  code: "forbidden",
  message: "Sorry, you have reached the knowledge base request rate limit of your subscription.",
};
const pauseAsked: AnyFault = { kind: "status", status: 429, headers: { "retry-after": "1" } };
/** Kills the process after some pages are stored, but not all. */
const kill = { kind: "kill", after: 32, gap: 3_600_000, edits: 2 } as const;

test.each<[string, Rule, Change, string]>([
  [
    "the second sweep is left out",
    "sweep",
    { job: { consistency: "sweeps", childChunks: "none" }, document: long, kinds: ["replace"] },
    "was there all the time",
  ],
  [
    "a document that is gone on with is not swept",
    "sweep",
    {
      job: { consistency: "counts", childChunks: "none" },
      document: { chunks: 40, ties: 0 },
      kinds: ["replace"],
      interruptions: [kill],
    },
    "was there all the time",
  ],
  [
    "the list of documents is not swept",
    "sweep of documents",
    { job: { documents: "all" }, kinds: ["replace document"], rate: 0.6, service: { pageCap: 2 }, interruptions: [] },
    "no moment with",
  ],
  ["old answers of caches are taken", "no-cache", { service: { cache: true } }, ""],
  [
    "the ranks are not looked at in the end",
    "ranks",
    {
      job: { consistency: "anchored", childChunks: "none" },
      document: long,
      kinds: ["replace"],
      service: wrongClock,
      interruptions: [],
    },
    "anchored, but the chunks were not so",
  ],
  [
    "positions need not rise strictly",
    "rising positions",
    {
      job: { consistency: "anchored", childChunks: "none" },
      document: long,
      kinds: [],
      script: [tieAtOnce],
      service: { pageCap: 3 },
      interruptions: [],
    },
    "anchored, but the chunks were not so",
  ],
  [
    "slow adds are forgotten",
    "settled",
    {
      job: { consistency: "anchored", childChunks: "none" },
      document: long,
      kinds: [],
      script: slowAdd,
      service: { pageCap: 3 },
      interruptions: [],
    },
    "was there all the time",
  ],
  [
    "embedded children are taken without a look at the list",
    "containment",
    { job: { childChunks: "all" }, document: hierarchical, kinds: ["replace child", "child content"] },
    "",
  ],
  [
    "rows that cannot be rendered are left out in silence",
    "unreadable rows",
    { document: { unreadable: { chunks: [1], status: 400 } } },
    "cannot be read",
  ],
  ["a page is tried once more than allowed", "tries", often([{ kind: "status", status: 500 }], 4), "was tried"],
  ["a refused page is sent again too often", "refusals", often([planLimit], 20), "was tried"],
  ["a pause that the service asks for costs no try", "asked pauses", often([pauseAsked], 5), "was tried"],
  [
    "silence counts as an outage",
    "silence",
    often([{ kind: "hang" }, { kind: "status", status: 408 }], 5),
    "was tried",
  ],
  [
    "a single page that fails counts as an outage",
    "single page",
    { job: { childChunks: "none" }, document: { chunks: 2 }, kinds: [], ...often([{ kind: "reset-before" }], 5) },
    "was tried",
  ],
])("it is found out if %s", async (_, rule, change, complaint) => {
  const headers: { headers?: (all: Readonly<Record<string, string>>) => Readonly<Record<string, string>> } =
    rule === "no-cache" ? { headers: ({ "cache-control": _, ...others }) => others } : {};
  for (let seed = 1; seed <= 400; seed++) {
    const scenario = scenarioOf(seed, change);
    broken.rule = rule;
    const { wrong } = await play(scenario, undefined, headers);
    broken.rule = undefined;
    if (!wrong.some((text) => text.includes(complaint))) continue;
    expect((await play(scenario)).wrong).toEqual([]);
    if (process.env.KBDUMP_TRACE) process.stderr.write(`${rule}: seed ${seed}: ${wrong.join("; ").slice(0, 300)}\n`);
    return;
  }
  expect.fail("not found out in 400 seeds");
});
