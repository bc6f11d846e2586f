import { integer, pick, type Random, shuffled } from "../../servers/random.js";
import type { RateLimit } from "../../servers/rate-limit.js";
import type { DocumentShape, FaultShape, JobShape, Scenario, ServiceShape } from "../scenario.js";
import { transientFaults } from "../service/faults.js";
import { drawDocument, withForms } from "./draw-document.js";
import { drawEdits, drawInterruptions } from "./draw-edits.js";
import { chance, logarithmic, streamOf } from "./stream.js";

/**
 * Draws a scenario. Each kind of trouble occurs in some seeds only, so that seeds together cover it on its own and combined with every
 * other kind.
 */
export function drawScenario(seed: number): Scenario {
  const random = streamOf(seed, "scenario");
  const drawn = drawJob(random);
  const plain = drawDocuments(random, drawn);
  return {
    seed,
    ...withForms(streamOf(seed, "forms"), drawn, plain),
    service: drawService(random),
    faults: drawFaults(random, drawn),
    edits: drawEdits(random, drawn),
    interruptions: drawInterruptions(random, ["kill", "kill", "kill", "power cut", "disk full", "signal"]),
  };
}

function drawJob(random: Random): JobShape {
  return {
    childChunks: pick(random, ["all", "all", "none"]),
    consistency: pick(random, ["sweeps", "sweeps", "sweeps", "anchored", "anchored", "counts"]),
    documents: chance(random, 0.15) ? "all" : "named",
    concurrency: pick(random, [1, 2, 3, 4, 8, 16]),
    retries: pick(random, [1, 2, 3, 6]),
    maxRps: chance(random, 0.2) ? Math.ceil(logarithmic(random, 5, 200)) : undefined,
    timeout: 60,
    formats: chance(random, 0.1) ? ["jsonl", "csv"] : ["jsonl"],
  };
}

/** Draws a few documents. If the job lists the documents, adds small ones, so that the list has several pages. */
function drawDocuments(random: Random, job: JobShape): readonly DocumentShape[] {
  const few = Array.from({ length: integer(random, 1, 3) }, () => drawDocument(random, job));
  if (job.documents === "named") return few;
  const small = () => ({
    ...drawDocument(random, job),
    chunks: integer(random, 0, 2),
    few: 1,
    big: 0,
    unreadable: none,
  });
  return [...few, ...Array.from({ length: integer(random, 0, 24) }, small)];
}

const none = { chunks: [], status: 400 };

function drawService(random: Random): ServiceShape {
  const low = logarithmic(random, 0.5, 100);
  return {
    pageCap: pick(random, [100, 100, 100, 50, 50, 20]),
    paging: chance(random, 0.06) ? "ignored" : "normal",
    hasMore: pick(random, ["honest", "rows-equal-limit", "always-false", "always-true", "absent"]),
    ties: pick(random, ["stable", "stable", "shuffled"]),
    rateLimit: chance(random, 0.15) ? drawRateLimit(random) : undefined,
    cache: chance(random, 0.3),
    latency: [low, low * logarithmic(random, 1, 20)],
  };
}

function drawRateLimit(random: Random): RateLimit {
  const answer = pick<RateLimit["answer"]>(random, ["429", "429-seconds", "403-sentence", "503"]);
  if (chance(random, 0.5)) return { perSecond: integer(random, 2, 50), answer };
  return { max: integer(random, 10, 100), window: pick(random, [5_000, 20_000, 60_000]), answer };
}

function drawFaults(random: Random, { retries }: JobShape): FaultShape {
  const drawn = shuffled(random, transientFaults).slice(0, integer(random, 1, transientFaults.length));
  const any = chance(random, 0.7);
  return {
    kinds: any ? drawn : [],
    rate: any ? logarithmic(random, 0.005, 0.6) : 0,
    inARow: chance(random, 0.2) ? retries + integer(random, 1, 8) : integer(random, 1, retries),
    lies: chance(random, 0.15) ? logarithmic(random, 0.005, 0.3) : 0,
    heavy: chance(random, 0.2) ? logarithmic(random, 0.02, 1) : 0,
    heavyLimit: pick(random, [10, 25, 25, 50, 50]),
    revokedAt: chance(random, 0.02) ? Math.ceil(logarithmic(random, 1, 200)) : undefined,
  };
}
