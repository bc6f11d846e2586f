import { integer, pick, type Random, shuffled } from "../../servers/random.js";
import type { EditKind, EditShape, Interruption, JobShape } from "../scenario.js";
import { chance, logarithmic } from "./stream.js";

/** Edits that people and programs really make. */
const usual: readonly EditKind[] = [
  "append",
  "late append",
  "delete",
  "replace",
  "content",
  "answer",
  "content back",
  "delete child",
  "add child",
  "replace child",
  "child content",
];

/** Edits that the service cannot make. They are rarer for `anchored`, which relies on that. */
const strange: readonly EditKind[] = ["insert", "trade", "append at once"];

const ofDocuments: readonly EditKind[] = ["add document", "drop document", "replace document"];

/** Draws edits. An undo is rare, because no way of reading can detect a state that comes back. */
export function drawEdits(random: Random, { consistency, documents }: JobShape): EditShape {
  if (chance(random, 0.4)) return { kinds: [], rate: 0, most: 0 };
  const isAnchored = consistency === "anchored";
  const kinds = shuffled(random, usual).slice(0, integer(random, 1, 6));
  const odd = shuffled(random, strange).slice(0, integer(random, 1, 3));
  const lists = documents === "all" && chance(random, 0.7);
  const more = [
    ...(chance(random, isAnchored ? 0.2 : 0.6) ? odd : []),
    ...(chance(random, 0.25) ? ["re-index" as const] : []),
    ...(chance(random, 0.05) ? ["drop document" as const] : []),
    ...(lists ? shuffled(random, ofDocuments).slice(0, integer(random, 1, 3)) : []),
    ...(chance(random, isAnchored ? 0.05 : 0.15) ? ["undo" as const] : []),
  ];
  return {
    kinds: [...kinds, ...more],
    rate: logarithmic(random, 0.01, 0.8),
    most: Math.ceil(logarithmic(random, 1, 60)),
  };
}

const day = 86_400_000;

/** Draws processes that end early. The next one starts within a day, and the data changes in between. */
export function drawInterruptions(random: Random, kinds: readonly Interruption["kind"][]): readonly Interruption[] {
  const count = pick(random, [0, 0, 0, 1, 1, 2, 3, 5]);
  const [first = "kill", ...rest] = kinds;
  return Array.from({ length: count }, () => ({
    kind: pick(random, [first, ...rest]),
    after: Math.ceil(logarithmic(random, 1, 600)),
    gap: chance(random, 0.5) ? random() * 60_000 : logarithmic(random, 60_000, day),
    edits: pick(random, [0, 1, 1, 2, integer(random, 3, 20)]),
  }));
}
