import { integer, pick, type Random, shuffled } from "../../servers/random.js";
import { drawInterruptions } from "../draw/draw-edits.js";
import { chance, logarithmic, streamOf } from "../draw/stream.js";
import type { DocumentShape, EditKind, EditShape, JobShape, Scenario } from "../scenario.js";
import { transientFaults } from "../service/faults.js";

/**
 * Draws a scenario in which the data changes and little else goes wrong. Pages and documents are small: a list of ten rows shows the
 * same races between pages as a list of thousands, in a hundredth of the time.
 */
export function drawMoving(seed: number): Scenario {
  const random = streamOf(seed, "moving");
  const job = drawJob(random);
  const service = drawService(random);
  const isFaulty = chance(random, 0.15);
  const kinds = isFaulty ? shuffled(random, transientFaults).slice(0, 3) : [];
  const shapes = Array.from({ length: pick(random, [1, 1, 2]) }, () => drawDocument(random, job, service.pageCap ?? 5));
  const small = (shape: DocumentShape) => ({ ...shape, chunks: integer(random, 0, 2), big: 0 });
  const [first] = shapes;
  const count = job.documents === "all" && first ? integer(random, 2, 14) : 0;
  return {
    seed,
    documents: [
      ...shapes,
      ...Array.from({ length: count }, () => (first ? small(first) : drawDocument(random, job, 5))),
    ],
    job,
    service,
    faults: {
      kinds,
      rate: isFaulty ? logarithmic(random, 0.01, 0.2) : 0,
      inARow: integer(random, 1, job.retries),
      lies: 0,
      heavy: chance(random, 0.04) ? 0.3 : 0,
      heavyLimit: 50,
      revokedAt: undefined,
    },
    edits: drawEdits(random, job),
    interruptions: chance(random, 0.35) ? drawInterruptions(random, ["kill", "kill", "power cut"]).map(soon) : [],
  };

  function soon(interruption: Scenario["interruptions"][number]) {
    return { ...interruption, after: integer(random, 4, 60) };
  }
}

function drawJob(random: Random): JobShape {
  return {
    childChunks: pick(random, ["none", "none", "all", "all", "auto"]),
    consistency: pick(random, ["sweeps", "sweeps", "sweeps", "anchored", "anchored", "anchored", "counts"]),
    documents: chance(random, 0.12) ? "all" : "named",
    concurrency: pick(random, [1, 1, 2, 4]),
    retries: 2,
    maxRps: undefined,
    timeout: 60,
    formats: ["jsonl"],
  };
}

function drawService(random: Random): Scenario["service"] {
  const low = logarithmic(random, 0.5, 20);
  return {
    pageCap: pick(random, [2, 3, 3, 5]),
    paging: "normal",
    hasMore: "honest",
    ties: chance(random, 0.05) ? "shuffled" : "stable",
    rateLimit: undefined,
    cache: chance(random, 0.5),
    latency: [low, low * logarithmic(random, 1, 20)],
  };
}

/** Draws two to six pages of chunks. Some jobs also have child chunks, and then fewer chunks. */
function drawDocument(random: Random, { childChunks }: JobShape, pageCap: number): DocumentShape {
  const chunks = childChunks === "none" ? integer(random, 2, 6 * pageCap) : integer(random, 1, 3 * pageCap);
  const isHierarchical = childChunks !== "none" && chance(random, 0.6);
  return {
    chunks,
    few: integer(random, 1, 4),
    bigEvery: integer(random, 2, 5),
    big: childChunks === "none" ? 0 : pick(random, [0, integer(random, 3, 12), integer(random, 20, 24)]),
    ties: chance(random, 0.1) ? integer(random, 2, 4) : 0,
    childTies: chance(random, 0.1),
    unreadable: { chunks: chance(random, 0.03) ? [integer(random, 1, chunks)] : [], status: 400 },
    refused: undefined,
    form: isHierarchical ? "hierarchical_model" : "text_model",
    embeds: isHierarchical && chance(random, 0.8),
  };
}

const appending: readonly EditKind[] = [
  "append",
  "append",
  "delete",
  "delete",
  "replace",
  "late append",
  "append at once",
];
const inPlace: readonly EditKind[] = ["content", "answer", "content back", "re-index"];
const anywhere: readonly EditKind[] = ["insert", "insert", "trade", "delete", "replace"];
const ofChildren: readonly EditKind[] = ["delete child", "add child", "replace child", "child content"];
const ofDocuments: readonly EditKind[] = ["add document", "drop document", "replace document"];

/** Mostly real edits: chunks are added at the end. Occasionally, rows are inserted anywhere or come back. */
function drawEdits(random: Random, { childChunks, documents }: JobShape): EditShape {
  const some = (kinds: readonly EditKind[], share: number) =>
    chance(random, share) ? shuffled(random, kinds).slice(0, integer(random, 1, kinds.length)) : [];
  const kinds = [
    ...shuffled(random, appending).slice(0, integer(random, 1, appending.length)),
    ...some(inPlace, 0.3),
    ...some(anywhere, 0.35),
    ...(childChunks === "none" ? [] : some(ofChildren, 0.6)),
    ...(documents === "named" ? [] : some(ofDocuments, 0.9)),
    ...some(["undo"], 0.05),
  ];
  return { kinds, rate: logarithmic(random, 0.03, 0.6), most: Math.ceil(logarithmic(random, 1, 30)) };
}
