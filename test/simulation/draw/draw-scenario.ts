import { hashOf, integer, pick, type Random, randomFrom, shuffled } from "../servers/random.js";
import type { RateLimit } from "../servers/rate-limit.js";
import { transientFaults } from "./faults.js";
import type {
  DocumentShape,
  EditKind,
  EditShape,
  FaultShape,
  Interruption,
  JobShape,
  Refused,
  Scenario,
  ServiceShape,
} from "./scenario.js";

/** A stream of randomness of its own for every purpose, so that one more draw here changes nothing there. */
export function streamOf(seed: number, purpose: string): Random {
  return randomFrom(hashOf(`${purpose} ${seed}`));
}

/**
 * Draws a scenario. Every kind of trouble is there in some seeds and missing in others, so that each meets every other,
 * and is also met alone.
 */
export function drawScenario(seed: number): Scenario {
  const random = streamOf(seed, "scenario");
  const drawn = drawJob(random);
  const plain = Array.from({ length: integer(random, 1, 3) }, () => drawDocument(random, drawn));
  return {
    seed,
    ...withForms(streamOf(seed, "forms"), drawn, plain),
    service: drawService(random),
    faults: drawFaults(random, drawn),
    edits: drawEdits(random),
    interruptions: drawInterruptions(random),
  };
}

const chance = (random: Random, share: number) => random() < share;

/** From low to high, small numbers as often as large ones. */
function logarithmic(random: Random, low: number, high: number): number {
  return low * (high / low) ** random();
}

function drawJob(random: Random): JobShape {
  return {
    childChunks: pick(random, ["all", "all", "none"]),
    consistency: pick(random, ["sweeps", "sweeps", "counts"]),
    concurrency: pick(random, [1, 2, 3, 4, 8, 16]),
    retries: pick(random, [1, 2, 3, 6]),
    maxRps: chance(random, 0.2) ? Math.ceil(logarithmic(random, 5, 200)) : undefined,
    timeout: 60,
    formats: chance(random, 0.1) ? ["jsonl", "csv"] : ["jsonl"],
  };
}

/** Lists that fill their last page, and those that do not; large ones are rarer where every chunk costs a request. */
function drawDocument(random: Random, { childChunks }: JobShape): DocumentShape {
  const small = () => pick(random, [0, 1, integer(random, 2, 12), integer(random, 2, 12), integer(random, 13, 60)]);
  const large = () => pick(random, [50, 51, 99, 100, 101, 150, integer(random, 100, 200), integer(random, 200, 350)]);
  const chunks = chance(random, childChunks === "all" ? 0.25 : 0.6) ? large() : small();
  return {
    chunks: childChunks === "none" && chance(random, 0.2) ? integer(random, 400, 900) : chunks,
    few: pick(random, [1, 1, 3, 4]),
    bigEvery: chunks <= 12 ? integer(random, 1, 6) : integer(random, 10, 60),
    big: chance(random, 0.5) ? pick(random, [50, 51, 100, 101, integer(random, 26, 99), integer(random, 101, 300)]) : 0,
    ties: chance(random, 0.2) ? integer(random, 2, 60) : 0,
    refused: chance(random, 0.04) ? pick(random, refusals) : undefined,
    form: "text_model",
    embeds: false,
  };
}

/** Some of the jobs that ask for all child lists ask only for those that the evidence calls for, of documents that give some. */
function withForms(
  random: Random,
  job: JobShape,
  documents: readonly DocumentShape[],
): Pick<Scenario, "job" | "documents"> {
  if (job.childChunks !== "all" || chance(random, 0.6)) return { job, documents };
  const withForm = (shape: DocumentShape): DocumentShape => {
    const form = pick(random, ["hierarchical_model", "hierarchical_model", "text_model"] as const);
    if (form === "text_model") return chance(random, 0.6) ? { ...shape, few: 1, big: 0 } : shape;
    const chunks = chance(random, 0.5) ? integer(random, 13, 70) : shape.chunks;
    return { ...shape, form, embeds: chance(random, 0.8), chunks, few: integer(random, 2, 5) };
  };
  return { job: { ...job, childChunks: "auto" }, documents: documents.map(withForm) };
}

const refusals: readonly [Refused, ...Refused[]] = [
  { status: 404, code: "not_found" },
  { status: 400, code: "provider_not_initialize" },
  { status: 403, code: "forbidden" },
];

function drawService(random: Random): ServiceShape {
  const low = logarithmic(random, 0.5, 100);
  return {
    pageCap: pick(random, [100, 100, 50]),
    paging: chance(random, 0.06) ? "ignored" : "normal",
    hasMore: pick(random, ["honest", "rows-equal-limit", "always-false", "always-true", "absent"]),
    ties: pick(random, ["stable", "stable", "shuffled"]),
    rateLimit: chance(random, 0.15) ? drawRateLimit(random) : undefined,
    latency: [low, low * logarithmic(random, 1, 20)],
  };
}

function drawRateLimit(random: Random): RateLimit {
  const answer = pick<RateLimit["answer"]>(random, ["429", "429-seconds", "403-sentence", "503"]);
  if (chance(random, 0.5)) return { perSecond: integer(random, 2, 50), answer };
  return { max: integer(random, 10, 100), window: pick(random, [5_000, 20_000, 60_000]), answer };
}

function drawFaults(random: Random, { retries }: JobShape): FaultShape {
  const some = shuffled(random, transientFaults).slice(0, integer(random, 1, transientFaults.length));
  const any = chance(random, 0.7);
  return {
    kinds: any ? some : [],
    rate: any ? logarithmic(random, 0.005, 0.6) : 0,
    inARow: chance(random, 0.2) ? retries + integer(random, 1, 8) : integer(random, 1, retries),
    lies: chance(random, 0.15) ? logarithmic(random, 0.005, 0.3) : 0,
    heavy: chance(random, 0.2) ? logarithmic(random, 0.02, 1) : 0,
    heavyLimit: pick(random, [10, 25, 25, 50, 50]),
    revokedAt: chance(random, 0.02) ? Math.ceil(logarithmic(random, 1, 200)) : undefined,
  };
}

const editKinds: readonly EditKind[] = [
  "delete",
  "add",
  "replace",
  "swap",
  "content",
  "answer",
  "delete child",
  "add child",
  "replace child",
  "child content",
];

/** An edit that is undone makes the state of before come back, against which no reading can guard; so it is rare. */
function drawEdits(random: Random): EditShape {
  if (chance(random, 0.4)) return { kinds: [], rate: 0, most: 0 };
  const kinds = shuffled(random, editKinds).slice(0, integer(random, 1, 6));
  const rare = [
    ...(chance(random, 0.25) ? ["re-index" as const] : []),
    ...(chance(random, 0.05) ? ["drop document" as const] : []),
  ];
  const undo = chance(random, 0.2) ? ["undo" as const] : [];
  return {
    kinds: [...kinds, ...rare, ...undo],
    rate: logarithmic(random, 0.01, 0.8),
    most: Math.ceil(logarithmic(random, 1, 60)),
  };
}

function drawInterruptions(random: Random): readonly Interruption[] {
  const count = pick(random, [0, 0, 0, 1, 1, 2, 3, 5]);
  return Array.from({ length: count }, () => ({
    kind: pick(random, ["kill", "kill", "kill", "power cut", "disk full", "signal"]),
    after: Math.ceil(logarithmic(random, 1, 600)),
  }));
}
