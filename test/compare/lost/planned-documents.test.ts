import fc from "fast-check";
import { expect, it } from "vitest";
import type { DocumentRows } from "../../../src/compare/document-rows.js";
import { planDocument } from "../../../src/compare/lost/plan-document.js";
import { rounds } from "../../rounds.js";
import { applyPlan } from "./apply-plan.js";
import { type Reindexed, reindexedDocuments } from "./reindexed-knowledge.js";

const options = { chosen: new Set<string>(), addDisabled: false, document_name: null };
const numRuns = rounds(150, 5_000, "KBDUMP_PLANNED_DOCUMENTS");
const planned = ({ old, history, target }: Reindexed) => planDocument(old, history, target, options);
const contents = ({ chunks }: DocumentRows) => chunks.map(({ content }) => content);
const count = (texts: readonly string[], text: string) => texts.filter((each) => each === text).length;

it("brings every text with hard evidence back once if the text before it is there, and lists it otherwise", () => {
  fc.assert(
    fc.property(reindexedDocuments("unique"), (given) => {
      const { old, history, target } = given;
      const plan = planned(given);
      const after = contents(applyPlan(target, plan));
      const listed = new Set(plan.listed.map(({ id }) => id));
      for (const { id, content, enabled } of old.chunks) {
        const before = history.chunks.get(id)?.content;
        const base = target.chunks.find((each) => each.content === before);
        if (before !== undefined)
          expect([id, count(after, content), listed.has(id)]).toEqual([
            id,
            Number(base?.enabled ?? false),
            !base?.enabled,
          ]);
        if (before !== undefined && base?.enabled) expect(after).not.toContain(before);
        if (history.added.has(id))
          expect([id, count(after, content), listed.has(id)]).toEqual([id, Number(enabled), !enabled]);
      }
    }),
    { numRuns },
  );
});

it("brings every child chunk made by hand back once if its parent is there, and lists it otherwise", () => {
  fc.assert(
    fc.property(reindexedDocuments("unique"), (given) => {
      const plan = planned(given);
      const after = applyPlan(given.target, plan).children.map(({ content }) => content);
      const listed = new Set(plan.listed.map(({ id }) => id));
      for (const { id, content, type } of given.old.children)
        if (type === "customized") expect([id, count(after, content)]).toEqual([id, Number(!listed.has(id))]);
      for (const before of given.history.children.values()) expect(count(after, before)).toBeLessThanOrEqual(1);
      for (const { segment_id, why } of plan.listed.filter(({ level }) => level === "child_chunk")) {
        expect(why).toBe("no place");
        expect(plan.restores.map(({ chunk_id }) => chunk_id)).not.toContain(segment_id);
      }
    }),
    { numRuns },
  );
});

it("disables what was disabled by hand, and nothing else", () => {
  fc.assert(
    fc.property(reindexedDocuments("unique"), (given) => {
      const { old, history, target } = given;
      const after = applyPlan(target, planned(given)).chunks;
      const proved = old.chunks.filter(
        ({ id, enabled, disabled_by }) => !enabled && (disabled_by !== null || history.chunks.has(id)),
      );
      const off = new Set(proved.map(({ content }) => content));
      for (const { id, content, enabled } of after) {
        const before = target.chunks.find((each) => each.id === id);
        expect([content, enabled]).toEqual([content, before?.enabled !== false && !off.has(content)]);
      }
    }),
    { numRuns },
  );
});

it("changes nothing that it does not plan, and plans nothing more once it is done", () => {
  fc.assert(
    fc.property(reindexedDocuments("unique"), (given) => {
      const plan = planned(given);
      const after = applyPlan(given.target, plan);
      const touched = new Set(plan.restores.map(({ target }) => target?.id));
      for (const each of given.target.chunks) if (!touched.has(each.id)) expect(after.chunks).toContainEqual(each);
      const again = planned({ ...given, target: after });
      expect(again.restores).toEqual([]);
      expect(again.listed.map(({ id, why }) => [id, why])).toEqual(plan.listed.map(({ id, why }) => [id, why]));
    }),
    { numRuns },
  );
});

/** Checks the rules that hold for all texts. */
function checkSafety({ old, history, target }: Reindexed, plan: ReturnType<typeof planDocument>): void {
  const targets = plan.restores.flatMap((restore) => (restore.target ? [restore.target.id] : []));
  expect(new Set(targets).size).toBe(targets.length);
  const twins = plan.restores.flatMap(({ children }) => children.flatMap(({ twin }) => (twin ? [twin.id] : [])));
  expect(new Set(twins).size).toBe(twins.length);
  for (const { chunk_id, target: home, texts, disable, children } of plan.restores) {
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

it("writes nothing without hard evidence, and over nothing but the text before or the same text, whatever texts stand twice", () => {
  fc.assert(
    fc.property(reindexedDocuments("few"), (given) => checkSafety(given, planned(given))),
    { numRuns },
  );
});

it("does not depend on the order of the rows", () => {
  const shuffled = (rows: DocumentRows, seed: number) => ({
    ...rows,
    chunks: rows.chunks.toSorted((a, b) => hash(a.id, seed) - hash(b.id, seed)),
    children: rows.children.toSorted((a, b) => hash(a.id, seed) - hash(b.id, seed)),
  });
  fc.assert(
    fc.property(reindexedDocuments("few"), fc.nat(), (given, seed) => {
      const other = { ...given, old: shuffled(given.old, seed), target: shuffled(given.target, seed + 1) };
      expect(planned(other)).toEqual(planned(given));
    }),
    { numRuns },
  );
});

const hash = (id: string, seed: number) =>
  [...id].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0) * (seed + 7)) % 1_009, seed % 97);
