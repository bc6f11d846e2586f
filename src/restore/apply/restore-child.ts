import type { ChildRestore } from "../restore-plan.js";
import type { DocumentWork, Landing } from "./document-work.js";
import { readChildren } from "./read-standing.js";
import { childHash, type StandingChild } from "./row-texts.js";
import { type Prepare, type ReadyWrite, writeRow } from "./write-row.js";

/** Writes one child chunk below a chunk of the target: in place of its twin, or behind the last one. */
export async function* restoreChild(work: DocumentWork, chunkId: string, child: ChildRestore): Landing {
  return yield* writeRow(work, async () => {
    const children = await readChildren(work.options.api, work.place, chunkId);
    return child.twin
      ? prepareTwin(work, chunkId, child, child.twin, children)
      : prepareAdding(work, chunkId, child, children);
  });
}

function prepareTwin(
  { options, place }: DocumentWork,
  chunkId: string,
  child: ChildRestore,
  twin: NonNullable<ChildRestore["twin"]>,
  children: readonly StandingChild[],
): Awaited<ReturnType<Prepare>> {
  const now = children.find(({ id }) => id === twin.id);
  if (!now) return { kind: "changed", id: null, reason: `child chunk ${twin.id} is gone` };
  if (now.content === child.content) return { kind: "there", id: twin.id };
  if (now.content !== twin.content) {
    return {
      kind: "changed",
      id: null,
      reason: `child chunk ${twin.id} differs in text from the one that the plan was made for`,
    };
  }
  return {
    write: options.writer.updateChild(place, chunkId, twin.id, child.content),
    facts: { ...factsOf(chunkId, child), action: "update", target_id: twin.id, equal: [] },
  };
}

function prepareAdding(
  { options, place }: DocumentWork,
  chunkId: string,
  child: ChildRestore,
  children: readonly StandingChild[],
): ReadyWrite {
  const equal = children.filter(({ content }) => content === child.content).map(({ id }) => id);
  return {
    write: options.writer.addChild(place, chunkId, child.content),
    facts: { ...factsOf(chunkId, child), action: "add", target_id: null, equal },
  };
}

function factsOf(chunkId: string, { child_id, content }: ChildRestore) {
  return {
    level: "child_chunk",
    old_id: child_id,
    parent_id: chunkId,
    texts_sha256: childHash(content),
    keywords_sha256: null,
  } as const;
}
