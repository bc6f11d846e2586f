import { describe, expect, test } from "vitest";
import type { ChildRestore, ChunkRestore } from "../../../src/compare/lost/restore-plan.js";
import type { StandingChunk } from "../../../src/restore/target-rows.js";
import { inFull, rounds } from "../../rounds.js";
import { integer, pick, type Random, randomFrom } from "../../servers/random.js";
import type { Fault } from "./flaky-service.js";
import { restoring, restoringChild, startTarget, type Target, uuid } from "./small-target.js";

const seeds = rounds(2, 40, "KBDUMP_SEEDS");
const firstSeed = Number(process.env.KBDUMP_FIRST_SEED ?? 1);
const mostProcesses = 40;

/** Draws the losses: text, keywords, state and children of some chunks, and missing chunks, two of them with the same text. */
function drawLosses(random: Random): readonly ChunkRestore[] {
  const isDrawn = (share: number) => random() < share;
  const edited = [1, 2, 3, 4].map((number) => {
    const keywords = isDrawn(0.4) ? [`keyword ${number}`] : null;
    const twin = { id: uuid(1001 + (number - 1) * 10), content: "one" };
    return restoring(number, {
      texts: isDrawn(0.6) ? { content: `lost ${number}`, answer: null, keywords } : null,
      disable: isDrawn(0.4),
      children: [
        ...(isDrawn(0.4) ? [restoringChild(number * 10, `one of ${number}`, twin)] : []),
        ...(isDrawn(0.4) ? [restoringChild(number * 10 + 1, `new of ${number}`)] : []),
      ],
    });
  });
  const added = ["same", "same", "chunk 5", "added"].slice(integer(random, 0, 3)).map((content, at) =>
    restoring(20 + at, {
      target: null,
      texts: { content, answer: null, keywords: isDrawn(0.4) ? [content] : null },
      disable: content === "added" && isDrawn(0.5),
      children: content === "added" && isDrawn(0.5) ? [restoringChild(99, "below")] : [],
    }),
  );
  return [...edited, ...added];
}

/** The losses that are left after an interrupted restore, as a new plan would find them. */
function stillLost(losses: readonly ChunkRestore[], place: Target): readonly ChunkRestore[] {
  const chunks = place.rows().chunks;
  const children = place.rows().children;
  const taken = new Set<string>();
  const isLeft = (child: ChildRestore, parent: string | undefined) =>
    !children.some(({ content, segment_id }) => segment_id === parent && content === child.content);
  return losses.flatMap((loss) => {
    const { texts, target } = loss;
    const isIt = ({ id, content }: Pick<StandingChunk, "id" | "content">) =>
      target ? id === target.id : !taken.has(id) && Number(id.slice(-12)) !== 105 && content === texts?.content;
    const now = chunks.find(isIt);
    if (!now) return [loss];
    taken.add(now.id);
    const left = {
      ...loss,
      target: now,
      texts: texts && now.content !== texts.content ? texts : null,
      disable: loss.disable && now.enabled,
      children: loss.children.filter((child) => isLeft(child, now.id)),
    };
    return left.texts || left.disable || left.children.length > 0 ? [left] : [];
  });
}

function drawFault(random: Random): Fault {
  return pick<Fault>(random, [
    "lost",
    "cut",
    { late: integer(random, 1, 4) },
    { status: 504, message: "Gateway Time-out" },
    { status: 429, message: "slow down" },
  ]);
}

/** Restores until nothing is lost; the seed decides which processes are killed and which answers get lost. */
async function restoreAll(seed: number) {
  const random = randomFrom(seed);
  const losses = drawLosses(random);
  let ended = new AbortController();
  let killAfter = 0;
  const place = await startTarget(
    [1, 2, 3, 4, 5].map(() => ({ children: ["one", "two"] })),
    { technique: pick(random, ["economy", "high_quality"]) },
    {
      indexingSeconds: pick(random, [0, 600]),
      embeddingFails: () => random() < 0.1,
      faultOf: (_, write) => {
        if (write === 0) return undefined;
        if (killAfter-- === 0) ended.abort(new Error("killed"));
        return ended.signal.aborted || random() < 0.3 ? drawFault(random) : undefined;
      },
    },
  );
  let processes = 0;
  const isOver = async () => {
    const { open, unindexed } = await place.open();
    return open.length === 0 && unindexed.length === 0 && stillLost(losses, place).length === 0;
  };
  while (!(await isOver())) {
    if (++processes > mostProcesses) throw new Error(`seed ${seed} comes to no end`);
    ended = new AbortController();
    killAfter = integer(random, 0, 8);
    const given = { signal: ended.signal };
    const killed = (error: unknown) => {
      if (!ended.signal.aborted) throw error;
    };
    const work = async () => {
      await place.reconcile(given);
      await place.apply(stillLost(losses, place), given);
    };
    await work().catch(killed);
  }
  return { place, losses, processes };
}

describe("whatever gets lost on the wire, and whenever the process is killed", () => {
  const all = Array.from({ length: seeds }, (_, at) => firstSeed + at);

  test.each(all)("every loss is restored once, and nothing else changes: seed %i", async (seed) => {
    const { place, losses } = await restoreAll(seed);
    const added = losses.filter(({ target }) => target === null).map(({ texts }) => texts?.content);
    const kept = [1, 2, 3, 4, 5].map((number) => {
      const restored = losses.find(({ target }) => target?.id === uuid(100 + number));
      return restored?.texts?.content ?? `chunk ${number}`;
    });
    expect([...place.texts()].sort()).toEqual([...kept, ...added].sort());
    expect(await place.prove()).toEqual([]);
    expect((await place.open()).open).toEqual([]);
    expect((await place.open()).unindexed).toEqual([]);
  });

  test.runIf(inFull)("processes are killed, and some of the writes are sent again", async () => {
    const runs = await Promise.all([1, 2, 3].map(restoreAll));
    expect(runs.reduce((sum, { processes }) => sum + processes, 0)).toBeGreaterThan(6);
  });
});
