import fc from "fast-check";
import { expect, test } from "vitest";
import type { Row } from "../../../src/rows/row.js";
import { chunk } from "../../verify/sound-tables.js";
import { diffed, tablesOf, twoDumps } from "./dumps.js";

/** An edit of one chunk. A re-indexed document gets only some kinds of edits, because their mix would be ambiguous. */
type Edit = "keep" | "change" | "move" | "disable" | "delete" | "insert after";
interface Edited {
  readonly reindexed: boolean;
  readonly edits: readonly Edit[];
}

const anyEdit = fc.constantFrom<Edit>("keep", "keep", "change", "move", "disable", "delete", "insert after");
const edited: fc.Arbitrary<Edited> = fc.oneof(
  fc.record({ reindexed: fc.constant(false), edits: fc.array(anyEdit, { minLength: 1, maxLength: 8 }) }),
  fc.record({
    reindexed: fc.constant(true),
    edits: fc.array(fc.constantFrom<Edit>("keep", "change", "disable"), { minLength: 1, maxLength: 8 }),
  }),
  fc.record({
    reindexed: fc.constant(true),
    edits: fc.array(fc.constantFrom<Edit>("keep", "delete", "disable"), { minLength: 1, maxLength: 8 }),
  }),
);

/** Plays the edits on a document: its chunks before and after them, and the changes that the comparison should report. */
function played(name: string, { reindexed, edits }: Edited) {
  const old = edits.map((_, at) =>
    chunk(name, `${name}${at}`, { position: at + 1, content: `${name} ${at}`, enabled: true }),
  );
  const kept: { row: Row; from: Row | undefined; edit: Edit }[] = [];
  for (const [at, edit] of edits.entries()) {
    const row = old[at] ?? {};
    if (edit === "change") kept.push({ row: { ...row, content: `${name} ${at} changed` }, from: row, edit });
    else if (edit === "move") kept.push({ row: { ...row, position: at + 101 }, from: row, edit });
    else if (edit === "disable") kept.push({ row: { ...row, enabled: false }, from: row, edit });
    else if (edit !== "delete") kept.push({ row, from: row, edit });
    if (edit === "insert after") {
      const id = `${name}${at}+`;
      const added = chunk(name, id, { position: at + 201, content: id, enabled: true });
      kept.push({ row: added, from: undefined, edit });
    }
  }
  const fresh = kept.map((each, at) =>
    reindexed ? { ...each, row: { ...each.row, id: `${each.row.id}'`, position: at + 1, hit_count: 0 } } : each,
  );
  const removed = old.filter((_, at) => edits[at] === "delete");
  return { old, new: fresh.map(({ row }) => row), described: [...fresh.flatMap(linesOf), ...removed.map(removedText)] };
}

const removedText = (row: Row) => `removed ${row.id} → null`;

function linesOf({ row, from, edit }: { row: Row; from: Row | undefined; edit: Edit }): readonly string[] {
  if (!from) return [`added null → ${row.id}`];
  const fields = edit === "disable" ? " enabled" : "";
  const ids = `${from.id} → ${row.id}${fields}`;
  if (edit === "change") return [`changed ${ids}`];
  if (from.position !== row.position) return [`moved ${ids}`];
  return edit === "disable" ? [`fields ${ids}`] : [];
}

test("a comparison of two dumps reports exactly the edits", async () => {
  const documents = fc.array(edited, { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(documents, async (plays) => {
      const all = plays.map((play, at) => played(`d${at}-`, play));
      const alive = all.filter((each) => each.new.length > 0); // a document without any new chunks is deleted, not re-indexed
      const tables = [tablesOf(alive.flatMap(({ old }) => old)), tablesOf(alive.flatMap((each) => each.new))] as const;
      const { diff, changes } = await diffed(await twoDumps(...tables));
      const found = changes.map(({ kind, old_id, new_id, fields }) =>
        [kind, old_id, "→", new_id, ...fields].map(String).join(" "),
      );
      const done = alive.flatMap(({ described }) => described);
      expect(found.sort()).toEqual([...done].sort());
      expect(diff.status).toBe(done.length > 0 ? "different" : "same");
      const { added, removed, changed, moved, unchanged } = diff.counts.chunks;
      expect(removed + changed + moved + unchanged).toBe(tables[0].chunks.length);
      expect(added + changed + moved + unchanged).toBe(tables[1].chunks.length);
    }),
    { numRuns: 6, endOnFailure: true },
  );
}, 120_000);
