import { describe, expect, it } from "vitest";
import type { Row } from "../../src/rows/row.js";
import { child, chunk, JobDatabase, read } from "./job-database.js";
import { change } from "./query.js";

const changesOf = (database: JobDatabase, more = "position::INTEGER, content") =>
  database.query(`SELECT run_id, change, differs, id, new_id, ${more} FROM chunk_changes ORDER BY run_id, id`);
const at = (database: JobDatabase, run: string, columns = "id") =>
  database.query(`SELECT ${columns} FROM chunks_at('${run}') ORDER BY position, id`);

const text = (id: string, position: number, content: string, more: object = {}) =>
  chunk("a", id, { position, content, hit_count: 0, enabled: true, status: "completed", ...more });

/** Runs that read one document well, one after the other. */
async function runs(...states: readonly (readonly Row[])[]): Promise<JobDatabase> {
  const database = await JobDatabase.create();
  for (const [index, chunks] of states.entries())
    await database.run(`r${index + 1}`, { chunks, documents: [read("a")] });
  return database;
}

describe("the changes of a run", () => {
  it("are none in the first run, and none where nothing is different", async () => {
    const same = [text("1", 1, "one"), text("2", 2, "two")];
    const database = await runs(same, same);
    expect(await changesOf(database)).toEqual([]);
    expect(await database.query("SELECT run_id, changes FROM runs ORDER BY run_id")).toEqual([
      ["r1", null],
      ["r2", "0"],
    ]);
  });

  it("have what was before: of added rows the id, of removed and changed ones everything", async () => {
    const database = await runs(
      [text("1", 1, "one"), text("2", 2, "two")],
      [text("2", 1, "new", { updated_by: "someone" }), text("3", 2, "three")],
    );
    expect(await changesOf(database, "position::INTEGER, content, status, updated_by")).toEqual([
      ["r2", "removed", null, "1", null, 1, "one", "completed", null],
      ["r2", "changed", ["position", "content", "updated_by"], "2", null, 2, "two", "completed", null],
      ["r2", "added", null, "3", null, null, null, null, null],
    ]);
    expect(await database.query("SELECT changes FROM runs WHERE run_id = 'r2'")).toEqual([["3"]]);
  });

  it("are of one kind each, by the first column that counts, and hold no more than what differs", async () => {
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
    const before = kinds.map((_each, at) => text(String(at), at + 1, "one"));
    const database = await runs(
      before,
      kinds.map(([, more], at) => ({ ...before[at], ...more })),
    );
    const found = await database.query("SELECT change, differs, content FROM chunk_changes ORDER BY id");
    expect(found.map(([change, differs]) => [change, new Set(Array.isArray(differs) ? differs : [])])).toEqual(
      kinds.map(([change, more]) => [change, new Set(Object.keys(more))]),
    );
    expect(found.map(([, , content]) => content)).toEqual(["one", ...Array.from({ length: 8 }, () => null)]);
    expect(await at(database, "r1", "position::INTEGER, hit_count::INTEGER, enabled, status, summary")).toEqual(
      before.map(({ position }) => [position, 0, true, "completed", null]),
    );
  });

  it("of a re-index are what it did, not everything removed and added", async () => {
    const old = ["zero", "one", "two", "two", "three"].map((each, place) =>
      text(`o${place}`, place + 1, each, { hit_count: 5 }),
    );
    const fresh = ["one", "two", "two", "drei", "four"].map((each, place) => text(`n${place}`, place + 1, each));
    const database = await runs(old, fresh.toSpliced(3, 1), fresh.toSpliced(3, 1));
    expect(await changesOf(database)).toEqual([
      ["r2", "removed", null, "o0", null, 1, "zero"],
      ["r2", "reindexed", ["id", "position", "hit_count"], "o1", "n0", 2, null],
      ["r2", "reindexed", ["id", "position", "hit_count"], "o2", "n1", 3, null],
      ["r2", "reindexed", ["id", "position", "hit_count"], "o3", "n2", 4, null],
      ["r2", "changed", ["id", "content", "hit_count"], "o4", "n4", 5, "three"],
    ]);
    expect(await at(database, "r1", "id, hit_count::INTEGER, content")).toEqual(
      old.map(({ id, content }) => [id, 5, content]),
    );
  });

  it("keep the lineage of a chunk over every new id", async () => {
    const states = ["first", "second", "third"].map((id) => [text(id, 1, "same"), text(`${id} other`, 2, "else")]);
    const database = await runs(...states, [text("third", 1, "edited"), text("third other", 2, "else")]);
    const found = await database.query(
      "SELECT list(id ORDER BY run_id), list(new_id ORDER BY run_id) FROM chunk_changes GROUP BY lineage ORDER BY count(*)",
    );
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
    expect(await at(database, "r2", "id, content")).toEqual([
      ["second", "same"],
      ["second other", "else"],
    ]);
  });

  it("of child chunks are found below the parent that matches", async () => {
    const database = await JobDatabase.create();
    const children = (parent: string, ...contents: string[]) =>
      contents.map((content, place) => ({ ...child("a", parent, `${parent}.${place}`), content, position: place + 1 }));
    const documents = [read("a")];
    const two = (one: string, other: string) => [text(one, 1, "one"), text(other, 2, "two")];
    const before = [...children("p", "x", "y"), ...children("q", "x")];
    await database.run("r1", { chunks: two("p", "q"), child_chunks: before, documents });
    const after = [...children("P", "x", "z"), ...children("Q", "x", "x")];
    await database.run("r2", { chunks: two("P", "Q"), child_chunks: after, documents });
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
  it("has the child chunks that were there when a run did not ask for any, and calls none of them removed or added", async () => {
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
    for (const _again of [1, 2]) // as a run that was killed is finished once more
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
  });

  it("lacks documents that were not known yet, and has those that went", async () => {
    const database = await JobDatabase.create();
    await database.run("r1", { chunks: [chunk("a", "a1")], documents: [read("a")] });
    await database.run("r2", { chunks: [chunk("b", "b1")], documents: [read("b")] });
    await database.run("r3", { documents: [read("b", "failed")] });
    expect(await at(database, "r0")).toEqual([]);
    expect(await at(database, "r1")).toEqual([["a1"]]);
    for (const run of ["r2", "r2~", "r3", "r9"]) expect(await at(database, run)).toEqual([["a1"], ["b1"]]);
  });

  it("is that before it when a run is finished once more, with what it then read", async () => {
    const database = await JobDatabase.create();
    const first = [chunk("a", "1", { content: "one" }), chunk("a", "2", { content: "two" }), chunk("b", "b1")];
    await database.run("r1", { chunks: first, documents: [read("a"), read("b")] });
    const changed = { chunks: [chunk("a", "1", { content: "uno" })], documents: [read("a"), read("b", "failed")] };
    await database.run("r2", changed);
    await database.run("r2", changed);
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
  });

  it("is refused for a time at which an older kbdump wrote nothing down, and known from then on", async () => {
    const database = await runs([text("1", 1, "one")], [text("1", 1, "two")]);
    await change("DELETE FROM chunk_changes", database.path);
    await change("UPDATE runs SET changes = NULL", database.path);
    for (const table of ["child_chunk_changes", "failed_reads"]) await change(`DROP TABLE ${table}`, database.path);
    await change("ALTER TABLE runs DROP COLUMN changes", database.path);
    for (const column of ["differs", "lineage", "new_id"])
      await change(`ALTER TABLE chunk_changes DROP COLUMN ${column}`, database.path);
    await database.run("r3", { chunks: [text("1", 1, "three")], documents: [read("a")] });
    expect(await at(database, "r3", "content")).toEqual([["three"]]);
    expect(await at(database, "r2", "content")).toEqual([["two"]]);
    await expect(at(database, "r1")).rejects.toThrow("no changes were written down");
    expect(await at(database, "r0")).toEqual([]);
  });

  it("is refused for a time in another form, which would be found before or after every run", async () => {
    const database = await runs([text("1", 1, "one")]);
    for (const time of ["2026-11-20", "2026-11-20T02:00:00Z", "20261120T020000Z", "20261120T020000123"]) {
      await expect(at(database, time)).rejects.toThrow(`expected the id of a run or a time in that form, UTC, such as`);
      await expect(database.query(`FROM child_chunks_at('${time}')`)).rejects.toThrow(`got ${time}`);
    }
    expect(await at(database, "20261120")).toEqual([]);
    expect(await at(database, "20261120T020000123Z")).toEqual([]);
  });
});
