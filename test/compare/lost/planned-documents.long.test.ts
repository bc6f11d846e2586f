import fc from "fast-check";
import { describe, expect, it, onTestFailed, vi } from "vitest";
import type { DocumentPlan } from "../../../src/compare/lost/restore-plan.js";
import { rounds } from "../../rounds.js";
import { applyPlan } from "./apply-plan.js";
import { planAll } from "./planned.js";
import { type Reindexed, reindexedDocuments } from "./reindexed-knowledge.js";
import type { MadeDocument } from "./rows.js";

vi.setConfig({ testTimeout: 900_000 });

type Plan = DocumentPlan | undefined;

/** Random documents with their plans. All properties share one comparison, because it takes most of the time. */
interface Planned {
  readonly all: readonly Reindexed[];
  readonly plans: readonly Plan[];
}

const seed = Number(process.env.KBDUMP_SEED ?? Math.floor(Math.random() * 2 ** 31));

function sayTheSeed(): void {
  process.stderr.write(`KBDUMP_SEED=${seed}\n`);
}

async function planRandom(texts: "unique" | "few"): Promise<readonly Planned[]> {
  const many = 2_500; // comparing more documents at once takes little longer
  const documents = fc.array(reindexedDocuments(texts), { minLength: many, maxLength: many });
  const planned: Planned[] = [];
  for (const all of fc.sample(documents, { numRuns: rounds(1, 2, "KBDUMP_PLANNED_DOCUMENTS"), seed }))
    planned.push({ all, plans: await planAll(all) });
  return planned;
}

/** Checks each document with its plan. A failure prints the seed. */
function checkPlans(planned: readonly Planned[], check: (given: Reindexed, plan: Plan) => void): void {
  onTestFailed(sayTheSeed);
  for (const { all, plans } of planned) for (const [at, given] of all.entries()) check(given, plans[at]);
}

const restoresOf = (plan: Plan) => plan?.restores ?? [];
const listedOf = (plan: Plan) => plan?.listed ?? [];
const contents = ({ chunks }: MadeDocument) => chunks.map(({ content }) => content);
const count = (texts: readonly string[], text: string) => texts.filter((each) => each === text).length;

describe("texts that are all different", () => {
  let drawn: Promise<readonly Planned[]> | undefined;
  const draw = () => (drawn ??= planRandom("unique"));

  it("restores every text with hard evidence once if the text before the edit exists, and lists it otherwise", async () => {
    checkPlans(await draw(), (given, plan) => {
      const { old, history, target } = given;
      const after = contents(applyPlan(target, plan));
      const listed = new Set(listedOf(plan).map(({ id }) => id));
      for (const { id, content } of old.chunks) {
        const before = history.chunks.get(id)?.content;
        const base = target.chunks.find((each) => each.content === before);
        if (before !== undefined)
          expect([id, count(after, content), listed.has(id)]).toEqual([
            id,
            Number(base?.enabled ?? false),
            !base?.enabled,
          ]);
        if (before !== undefined && base?.enabled) expect(after).not.toContain(before);
        if (history.added.has(id)) expect([id, count(after, content), listed.has(id)]).toEqual([id, 1, false]);
      }
    });
  });

  it("restores every manual child chunk once if its parent exists, and lists it otherwise", async () => {
    checkPlans(await draw(), (given, plan) => {
      const after = applyPlan(given.target, plan).children.map(({ content }) => content);
      const listed = new Set(listedOf(plan).map(({ id }) => id));
      for (const { id, content, type } of given.old.children)
        if (type === "customized") expect([id, count(after, content)]).toEqual([id, Number(!listed.has(id))]);
      for (const before of given.history.children.values()) expect(count(after, before)).toBeLessThanOrEqual(1);
      for (const { segment_id, why } of listedOf(plan).filter(({ level }) => level === "child_chunk")) {
        expect(why).toBe("needs your decision");
        expect(restoresOf(plan).map(({ chunk_id }) => chunk_id)).not.toContain(segment_id);
      }
    });
  });

  it("disables manually disabled chunks, and nothing else", async () => {
    checkPlans(await draw(), (given, plan) => {
      const { old, history, target } = given;
      const after = applyPlan(target, plan).chunks;
      const proved = old.chunks.filter(
        ({ id, enabled, disabled_by }) => !enabled && (disabled_by !== null || history.chunks.has(id)),
      );
      const off = new Set(proved.map(({ content }) => content));
      for (const { id, content, enabled } of after) {
        const before = target.chunks.find((each) => each.id === id);
        expect([content, enabled]).toEqual([content, before?.enabled !== false && !off.has(content)]);
      }
    });
  });

  it("changes nothing that it does not plan, and plans nothing more once it is done", async () => {
    const afterwards = (given: Reindexed, plan: Plan) => applyPlan(given.target, plan);
    checkPlans(await draw(), (given, plan) => {
      const touched = new Set(restoresOf(plan).map(({ target }) => target?.id));
      const after = afterwards(given, plan).chunks;
      for (const each of given.target.chunks) if (!touched.has(each.id)) expect(after).toContainEqual(each);
    });
    for (const { all, plans } of await draw()) {
      const again = await planAll(all.map((given, at) => ({ ...given, target: afterwards(given, plans[at]) })));
      expect(again.flatMap(restoresOf)).toEqual([]);
      const left = (plan: Plan) => listedOf(plan).map(({ id, why }) => [id, why]);
      expect(again.map(left)).toEqual(plans.map(left));
    }
  });
});

/** Checks the rules that hold for every text. */
function checkSafety({ old, history, target }: Reindexed, plan: Plan): void {
  const targets = restoresOf(plan).flatMap((restore) => (restore.target ? [restore.target.id] : []));
  expect(new Set(targets).size).toBe(targets.length);
  const twins = restoresOf(plan).flatMap(({ children }) => children.flatMap(({ twin }) => (twin ? [twin.id] : [])));
  expect(new Set(twins).size).toBe(twins.length);
  for (const { chunk_id, target: home, texts, disable, children } of restoresOf(plan)) {
    const [chunk, first] = [old.chunks.find(({ id }) => id === chunk_id), history.chunks.get(chunk_id)];
    const now = target.chunks.find(({ id }) => id === home?.id);
    if (texts && now) {
      expect(now.enabled).toBe(true);
      const isBefore = [first?.content, chunk?.content].includes(now.content);
      expect([chunk_id, first !== undefined, isBefore]).toEqual([chunk_id, true, true]);
    }
    if (texts) expect(texts.content.trim()).not.toBe("");
    if (texts && !now) expect(history.added).toContain(chunk_id);
    if (disable) expect([chunk?.enabled, chunk?.disabled_by ?? first?.enabled]).toEqual([false, expect.anything()]);
    for (const { child_id } of children)
      expect(old.children.find(({ id }) => id === child_id)).toMatchObject({
        type: "customized",
        segment_id: chunk_id,
      });
  }
}

describe("texts that repeat or contain each other", () => {
  let drawn: Promise<readonly Planned[]> | undefined;
  const draw = () => (drawn ??= planRandom("few"));

  it("writes nothing without hard evidence, and replaces only the text before the edit or the same text, even with repeated texts", async () => {
    checkPlans(await draw(), checkSafety);
  });

  it("does not depend on the order of the rows", async () => {
    const shuffled = (rows: MadeDocument, seed: number) => ({
      ...rows,
      chunks: rows.chunks.toSorted((a, b) => hash(a.id, seed) - hash(b.id, seed)),
      children: rows.children.toSorted((a, b) => hash(a.id, seed) - hash(b.id, seed)),
    });
    const other = (given: Reindexed, seed: number) => ({
      ...given,
      old: shuffled(given.old, seed),
      target: shuffled(given.target, seed + 1),
    });
    onTestFailed(sayTheSeed);
    for (const { all, plans } of await draw()) expect(await planAll(all.map(other))).toEqual(plans);
  });
});

const hash = (id: string, seed: number) =>
  [...id].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0) * (seed + 7)) % 1_009, seed % 97);
