import { describe, expect, it } from "vitest";
import type { Row } from "../../src/rows/row.js";
import { inFull } from "../rounds.js";
import { child, chunk, JobDatabase, madeOnce, read } from "./job-database.js";

const changesOf = (database: JobDatabase, more = "position::INTEGER, content", document = "a") =>
  database.query(
    `SELECT run_id, change, differs, id, new_id, ${more} FROM chunk_changes WHERE document_id = '${document}' ORDER BY run_id, id`,
  );
const at = (database: JobDatabase, run: string, columns = "id") =>
  database.query(`SELECT ${columns} FROM chunks_at('${run}') ORDER BY position, id`);
const documentAt = (database: JobDatabase, document: string, run: string, columns: string) =>
  database.query(`SELECT ${columns} FROM chunks_at('${run}') WHERE document_id = '${document}' ORDER BY position, id`);

const textOf = (document: string, id: string, position: number, content: string, more: object = {}) =>
  chunk(document, id, { position, content, hit_count: 0, enabled: true, status: "completed", ...more });
const text = (id: string, position: number, content: string, more: object = {}) =>
  textOf("a", id, position, content, more);

/** Runs that each read one document completely. */
async function runs(...states: readonly (readonly Row[])[]): Promise<JobDatabase> {
  const database = await JobDatabase.create();
  for (const [index, chunks] of states.entries())
    await database.run(`r${index + 1}`, { chunks, documents: [read("a")] });
  return database;
}

/** One chunk for each kind of change, and the fields that differ. */
const kinds: readonly (readonly [change: string, more: object])[] = [
  ["changed", { answer: "y", enabled: false }],
  ["enabled", { enabled: false, status: "error" }],
  ["status", { status: "error", keywords: ["k"] }],
  ["keywords", { keywords: ["k"], position: 70 }],
  ["moved", { position: 71, hit_count: 9 }],
  ["hit_count", { hit_count: 9, updated_at: "2025-03-06T13:20:00Z" }],
  ["other", { summary: "s" }],
  ["other", { extra: { a: 1 } }],
  ["other", { updated_at: "2025-03-06T13:20:00Z" }],
];
const beforeKinds = kinds.map((_each, at) => textOf("kinds", String(at), at + 1, "one"));

const beforeReindex = ["zero", "one", "two", "two", "three"].map((each, place) =>
  textOf("reindexed", `o${place}`, place + 1, each, { hit_count: 5 }),
);
const reindexed = ["one", "two", "two", "drei", "four"]
  .map((each, place) => textOf("reindexed", `n${place}`, place + 1, each))
  .toSpliced(3, 1);

/** A document with two chunks. They get new ids in the second and the third run; in the fourth, one is edited. */
const lineage = (id: string, content = "same") => [
  textOf("lineage", id, 1, content),
  textOf("lineage", `${id} other`, 2, "else"),
];

const parents = (one: string, other: string) => [textOf("parents", one, 1, "one"), textOf("parents", other, 2, "two")];
const childrenOf = (parent: string, ...contents: string[]) =>
  contents.map((content, place) => ({
    ...child("parents", parent, `${parent}.${place}`),
    content,
    position: place + 1,
  }));

/** A database of four runs; each document changes in a different way, and the last run reads only one. */
const changed = madeOnce(async () => {
  const database = await JobDatabase.create();
  const documents = ["kinds", "reindexed", "lineage", "parents"].map((id) => read(id));
  const late = textOf("late", "late1", 1, "here");
  const afterKinds = kinds.map(([, more], at) => ({ ...beforeKinds[at], ...more }));
  await database.run("r1", {
    chunks: [
      ...[...beforeKinds, ...beforeReindex, ...lineage("first"), ...parents("p", "q")],
      textOf("early", "early1", 1, "here"),
    ],
    child_chunks: [...childrenOf("p", "x", "y"), ...childrenOf("q", "x")],
    documents: [...documents, read("early")],
  });
  const child_chunks = [...childrenOf("P", "x", "z"), ...childrenOf("Q", "x", "x")];
  const chunks = [...afterKinds, ...reindexed, ...parents("P", "Q")];
  await database.run("r2", {
    chunks: [...chunks, ...lineage("second"), late],
    child_chunks,
    documents: [...documents, read("late")],
  });
  await database.run("r3", {
    chunks: [...chunks, ...lineage("third")],
    child_chunks,
    documents: [...documents, read("late", "failed")],
  });
  await database.run("r4", { chunks: lineage("third", "edited"), documents: [read("lineage")] });
  return database;
});

describe("the changes of a run", () => {
  it("have the old values: for added rows the id, for removed and changed ones everything; none if nothing differs", async () => {
    const fresh = [text("2", 1, "new", { updated_by: "someone" }), text("3", 2, "three")];
    const database = await runs([text("1", 1, "one"), text("2", 2, "two")], fresh, fresh);
    expect(await changesOf(database, "position::INTEGER, content, status, updated_by")).toEqual([
      ["r2", "removed", null, "1", null, 1, "one", "completed", null],
      ["r2", "changed", ["position", "content", "updated_by"], "2", null, 2, "two", "completed", null],
      ["r2", "added", null, "3", null, null, null, null, null],
    ]);
    expect(await database.query("SELECT run_id, changes FROM runs ORDER BY run_id")).toEqual([
      ["r1", null],
      ["r2", "3"],
      ["r3", "0"],
    ]);
  });

  it.runIf(inFull)("have one kind each, by the first column that counts, and contain only what differs", async () => {
    const database = await changed();
    const found = await database.query(
      "SELECT change, differs, content FROM chunk_changes WHERE document_id = 'kinds' ORDER BY id",
    );
    expect(found.map(([change, differs]) => [change, new Set(Array.isArray(differs) ? differs : [])])).toEqual(
      kinds.map(([change, more]) => [change, new Set(Object.keys(more))]),
    );
    expect(found.map(([, , content]) => content)).toEqual(["one", ...Array.from({ length: 8 }, () => null)]);
    const columns = "position::INTEGER, hit_count::INTEGER, enabled, status, summary";
    expect(await documentAt(database, "kinds", "r1", columns)).toEqual(
      beforeKinds.map(({ position }) => [position, 0, true, "completed", null]),
    );
  });

  it("describe a re-index by its effect, not as everything removed and added", async () => {
    const database = await changed();
    expect(await changesOf(database, undefined, "reindexed")).toEqual([
      ["r2", "removed", null, "o0", null, 1, "zero"],
      ["r2", "reindexed", ["id", "position", "hit_count"], "o1", "n0", 2, null],
      ["r2", "reindexed", ["id", "position", "hit_count"], "o2", "n1", 3, null],
      ["r2", "reindexed", ["id", "position", "hit_count"], "o3", "n2", 4, null],
      ["r2", "changed", ["id", "content", "hit_count"], "o4", "n4", 5, "three"],
    ]);
    expect(await documentAt(database, "reindexed", "r1", "id, hit_count::INTEGER, content")).toEqual(
      beforeReindex.map(({ id, content }) => [id, 5, content]),
    );
  });

  it("keep the lineage of a chunk over every new id", async () => {
    const database = await changed();
    const found = await database.query(`SELECT list(id ORDER BY run_id), list(new_id ORDER BY run_id) FROM chunk_changes
      WHERE document_id = 'lineage' GROUP BY lineage ORDER BY count(*)`);
    expect(found).toEqual([
      [
        ["first other", "second other"],
        ["second other", "third other"],
      ],
      [
        ["first", "second", "third"],
        ["second", "third", null],
      ],
    ]);
    expect(await documentAt(database, "lineage", "r2", "id, content")).toEqual([
      ["second", "same"],
      ["second other", "else"],
    ]);
  });

  it("of child chunks are found below the parent that matches", async () => {
    const database = await changed();
    expect(
      await database.query(
        "SELECT change, segment_id, new_segment_id, id, new_id, content FROM child_chunk_changes ORDER BY id",
      ),
    ).toEqual([
      ["added", "Q", null, "Q.1", null, null],
      ["reindexed", "p", "P", "p.0", "P.0", null],
      ["changed", "p", "P", "p.1", "P.1", "y"],
      ["reindexed", "q", "Q", "q.0", "Q.0", null],
    ]);
    const found = await database.query("SELECT segment_id, id, content FROM child_chunks_at('r1') ORDER BY id");
    expect(found).toEqual([
      ["p", "p.0", "x"],
      ["p", "p.1", "y"],
      ["q", "q.0", "x"],
    ]);
  });
});

describe("the state at a run", () => {
  it.runIf(inFull)(
    "has the child chunks that were there when a run did not ask for any, and calls none of them removed or added",
    async () => {
      const database = await JobDatabase.create();
      const documents = [read("a")];
      const children = (...ids: string[]) =>
        ids.map((id, position) => ({ ...child("a", "1", id), content: id, position }));
      const tables = {
        chunks: [text("1", 1, "one")],
        child_chunks: children("k1", "k2"),
        documents,
      };
      await database.run("r1", tables);
      for (const _again of [1, 2]) // twice, like a killed run that is finished later
        await database.run("r2", { chunks: [text("1", 1, "two")], documents }, { withoutChildren: true });
      const now = () => database.query("SELECT id, run_id FROM child_chunks ORDER BY id");
      expect(await now()).toEqual([
        ["k1", "r1"],
        ["k2", "r1"],
      ]);
      await database.run("r3", { ...tables, child_chunks: children("k2", "k3") });
      expect(await now()).toEqual([
        ["k2", "r3"],
        ["k3", "r3"],
      ]);
      expect(await database.query("SELECT run_id, change, id FROM child_chunk_changes ORDER BY id")).toEqual([
        ["r3", "removed", "k1"],
        ["r3", "moved", "k2"],
        ["r3", "added", "k3"],
      ]);
      for (const run of ["r1", "r2"])
        expect(await database.query(`SELECT id FROM child_chunks_at('${run}') ORDER BY id`)).toEqual([["k1"], ["k2"]]);
      expect(await changesOf(database, "content")).toEqual([
        ["r2", "changed", ["content"], "1", null, "one"],
        ["r3", "changed", ["content"], "1", null, "two"],
      ]);
    },
  );

  it("lacks documents that were not known yet, and has those that went", async () => {
    const database = await changed();
    const found = (run: string) =>
      database.query(`SELECT id FROM chunks_at('${run}') WHERE document_id IN ('early', 'late') ORDER BY id`);
    expect(await at(database, "r0")).toEqual([]);
    expect(await found("r1")).toEqual([["early1"]]);
    for (const run of ["r2", "r2~", "r3", "r9"]) expect(await found(run)).toEqual([["early1"], ["late1"]]);
  });

  it.runIf(inFull)("is that before it when a run is finished once more, with what it then read", async () => {
    const database = await JobDatabase.create();
    const first = [chunk("a", "1", { content: "one" }), chunk("a", "2", { content: "two" }), chunk("b", "b1")];
    await database.run("r1", { chunks: first, documents: [read("a"), read("b")] });
    const second = { chunks: [chunk("a", "1", { content: "uno" })], documents: [read("a"), read("b", "failed")] };
    await database.run("r2", second);
    const again = {
      chunks: [chunk("a", "1", { content: "eins" }), chunk("b", "b1")],
      documents: [read("a"), read("b")],
    };
    await database.run("r2", again);
    const columns = "document_id, id, content";
    expect(await at(database, "r1", columns)).toEqual([
      ["a", "1", "one"],
      ["a", "2", "two"],
      ["b", "b1", null],
    ]);
    expect(await at(database, "r2", columns)).toEqual([
      ["a", "1", "eins"],
      ["b", "b1", null],
    ]);
    expect(await changesOf(database, "content")).toEqual([
      ["r2", "changed", ["content"], "1", null, "one"],
      ["r2", "removed", null, "2", null, "two"],
    ]);
    expect(await database.query("SELECT older_run_id, run_id, id, lost FROM lost_texts")).toEqual([
      ["r1", "r2", "2", ["text"]],
    ]);
  });

  it.runIf(inFull)(
    "is refused for a time in another form, which would be found before or after every run",
    async () => {
      const database = await changed();
      for (const time of ["2026-11-20", "2026-11-20T02:00:00Z", "20261120T020000Z", "20261120T020000123"]) {
        await expect(at(database, time)).rejects.toThrow(
          `expected the id of a run or a time in that form, UTC, such as`,
        );
        await expect(database.query(`FROM child_chunks_at('${time}')`)).rejects.toThrow(`got ${time}`);
      }
      expect(await at(database, "20261120")).toEqual([]);
      expect(await at(database, "20261120T020000123Z")).toEqual([]);
    },
  );
});
