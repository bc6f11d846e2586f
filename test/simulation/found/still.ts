import type { DocumentShape, Scenario } from "../scenario.js";

/** A scenario without documents, edits or faults. */
export const still: Scenario = {
  seed: 1,
  documents: [],
  job: {
    childChunks: "all",
    consistency: "counts",
    documents: "named",
    concurrency: 8,
    retries: 6,
    maxRps: undefined,
    timeout: 60,
    formats: ["jsonl"],
  },
  service: {
    pageCap: 100,
    paging: "normal",
    hasMore: "honest",
    ties: "stable",
    rateLimit: undefined,
    cache: false,
    latency: [70, 100],
  },
  faults: { kinds: [], rate: 0, inARow: 1, lies: 0, heavy: 0, heavyLimit: 50, revokedAt: undefined },
  edits: { kinds: [], rate: 0, most: 0 },
  interruptions: [],
};

export const small: DocumentShape = {
  chunks: 3,
  few: 1,
  bigEvery: 3,
  big: 0,
  ties: 0,
  childTies: false,
  unreadable: { chunks: [], status: 400 },
  refused: undefined,
  form: "text_model",
  embeds: false,
};
