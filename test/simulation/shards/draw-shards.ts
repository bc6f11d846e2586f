import { integer, pick } from "../../servers/random.js";
import { chance, streamOf } from "../draw/stream.js";
import { drawMoving } from "../moving/draw-moving.js";
import type { EditKind, Scenario } from "../scenario.js";

/** A scenario that is read in shards. */
export interface ShardedScenario {
  readonly scenario: Scenario;
  readonly count: number;
  /**
   * The order in which the shards are read. in turn: one after another, each in its own processes. at once: every process reads all
   * shards.
   */
  readonly order: "in turn" | "at once";
  /** Whether all shards use the same list of documents; otherwise each asks the service. */
  readonly isListGiven: boolean;
}

const ofDocuments: readonly EditKind[] = ["add document", "drop document", "replace document"];

/** Draws a scenario with changing data and a few shards, each with documents. */
export function drawSharded(seed: number): ShardedScenario {
  const random = streamOf(seed, "shards");
  const count = integer(random, 2, 4);
  const drawn = drawMoving(seed);
  const wanted = integer(random, count, 2 * count);
  const times = drawn.job.documents === "all" ? 1 : Math.ceil(wanted / drawn.documents.length);
  const documents = Array.from({ length: times }, () => drawn.documents).flat();
  const isAll = drawn.job.documents === "all" || chance(random, 0.4);
  const { kinds, rate, most } = drawn.edits;
  return {
    scenario: {
      ...drawn,
      documents,
      job: { ...drawn.job, documents: isAll ? "all" : "named" },
      edits: { kinds: isAll ? [...kinds, ...ofDocuments] : kinds, rate: Math.max(0.1, rate), most: most * times },
    },
    count,
    order: pick(random, ["in turn", "at once"]),
    isListGiven: chance(random, 0.5),
  };
}
