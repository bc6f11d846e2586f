import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import type { Row } from "../../../src/rows/row.js";
import * as rows from "../../database/job-database.js";
import { JobDatabase, madeOnce, read } from "../../database/job-database.js";
import { change } from "../../database/query.js";
import { historyAt } from "./history-at.js";
import { type DocumentHistory, noHistory } from "./planned.js";

const at = (hour: number) => `2025-03-06T${String(hour).padStart(2, "0")}:00:00Z`;
/** A chunk that the indexer created at 1 o'clock. */
const chunk = (id: string, more: Row = {}) =>
  rows.chunk("doc", id, { content: `text of ${id}`, enabled: true, status: "completed", created_at: at(1), ...more });
const child = (segment: string, id: string, content: string) => ({ ...rows.child("doc", segment, id), content });

interface Run {
  readonly chunks: readonly Row[];
  readonly children?: readonly Row[];
  readonly status?: string;
}

/** The rows of a document with this id. */
function within(document_id: string, { chunks, children = [] }: Run) {
  const moved = (rows: readonly Row[]) => rows.map((row) => ({ ...row, document_id }));
  return { chunks: moved(chunks), children: moved(children) };
}

/**
 * A database of several runs of some documents. The first run starts at 2 o'clock, each later one an hour after the one
 * before.
 */
async function databaseOf(documents: readonly (readonly Run[])[]): Promise<JobDatabase> {
  const made = await JobDatabase.create();
  const longest = Math.max(...documents.map(({ length }) => length));
  for (let run = 0; run < longest; run++) {
    const found = documents.flatMap((runs, index) => {
      const [id, now] = [`doc${index + 1}`, runs[run]];
      return now ? [{ ...within(id, now), document: read(id, now.status ?? "complete") }] : [];
    });
    const tables = {
      chunks: found.flatMap(({ chunks }) => chunks),
      child_chunks: found.flatMap(({ children }) => children),
      documents: found.map(({ document }) => document),
    };
    await made.run(`r${run + 1}`, tables, { run: { started_at: at(run + 2).replace("Z", ".000Z") } });
  }
  return made;
}

const first = { chunks: [chunk("a"), chunk("b")] };
const mine = chunk("mine", { created_at: at(2), content: "mine" });
const reindexed = [chunk("c", { created_at: at(2) }), chunk("d", { created_at: at(2), content: "more" })];
const unread = { chunks: [], status: "failed" };
const indexing = chunk("a", { status: "indexing" });
const editedTwice = [
  { chunks: [chunk("a", { content: "before" })] },
  { chunks: [chunk("a", { content: "mine" })] },
  { chunks: [chunk("b", { content: "anew" })] },
  { chunks: [chunk("b", { content: "mine again" })] },
];

/** Documents: the rows that each run read, and the history expected after the last run. */
const scenes: readonly (readonly [title: string, runs: readonly Run[], history: Partial<DocumentHistory>])[] = [
  [
    "an edit: what stood there first, however often it was made",
    [
      { chunks: [chunk("a", { content: "first", keywords: ["k"] }), chunk("b")] },
      { chunks: [chunk("a", { content: "second", keywords: ["k"] }), chunk("b")] },
      { chunks: [chunk("a", { content: "third", keywords: null, enabled: false, answer: "x" }), chunk("b")] },
    ],
    { chunks: new Map([["a", { content: "first", keywords: ["k"], enabled: true, answer: null }]]) },
  ],
  ["an edit after a re-index", editedTwice, { chunks: new Map([["b", { content: "anew" }]]) }],
  [
    "an edit of a child chunk, also where the text begins with a byte order mark",
    [
      { chunks: [chunk("a")], children: [child("a", "k", "\ufefffirst"), child("a", "l", "same")] },
      { chunks: [chunk("a")], children: [child("a", "k", "second"), child("a", "l", "same")] },
    ],
    { children: new Map([["k", "\ufefffirst"]]) },
  ],
  [
    "no edit of keywords or state where the status changed, too: the service was at work",
    [
      { chunks: [chunk("a", { status: "indexing", enabled: true, keywords: null })] },
      { chunks: [chunk("a", { status: "completed", keywords: ["made"] })] },
      { chunks: [chunk("a", { status: "error", keywords: ["made"], enabled: false })] },
    ],
    {},
  ],
  [
    "a chunk that came beside others that kept their ids",
    [first, { chunks: [...first.chunks, mine] }],
    { added: new Set(["mine"]) },
  ],
  [
    "a chunk that came in the place of one that was deleted",
    [
      { chunks: [chunk("a", { position: 1 }), chunk("b", { position: 2 })] },
      { chunks: [chunk("a", { position: 1 }), { ...mine, position: 2 }] },
    ],
    { added: new Set(["mine"]) },
  ],
  [
    "a chunk that came after a re-index, and none of the re-index",
    [first, { chunks: reindexed }, { chunks: [...reindexed, { ...mine, created_at: at(3) }] }],
    { added: new Set(["mine"]) },
  ],
  ["no chunk that came together with all others", [first, { chunks: [...reindexed, mine] }], {}],
  ["no chunk of the first run that reads the document", [unread, { chunks: [...reindexed, mine] }], {}],
  [
    "no chunk that is older than the run before: a filter hid it",
    [first, { chunks: [...first.chunks, chunk("hidden")] }],
    {},
  ],
  [
    "a chunk that came before a run that could not read the document",
    [first, unread, { chunks: [...first.chunks, mine] }],
    { added: new Set(["mine"]) },
  ],
  [
    "no chunk that came while the document was being indexed",
    [{ chunks: [indexing] }, { chunks: [chunk("a"), mine] }],
    {},
  ],
  ["no chunk of a document that is still being indexed", [{ chunks: [indexing] }, { chunks: [indexing, mine] }], {}],
  ["no chunk without a time of creation", [first, { chunks: [...first.chunks, { ...mine, created_at: null }] }], {}],
];

describe("the history of a document has", () => {
  const built = madeOnce(() => databaseOf(scenes.map(([, runs]) => runs)));
  it.each(scenes.map((scene, index) => [scene[0], `doc${index + 1}`, scene] as const))(
    "%s",
    async (_title, id, scene) => {
      const [, runs, expected] = scene;
      const read = within(id, runs.at(-1) ?? first);
      const { history, warning } = await historyAt((await built()).path, `r${runs.length}`, read, id);
      expect([history, warning]).toEqual([{ ...noHistory, ...expected }, undefined]);
    },
  );
});

it("the history up to a run has nothing of later runs", async () => {
  const { path } = await databaseOf([editedTwice]);
  const upTo = async (run: number) =>
    (await historyAt(path, `r${run}`, within("doc1", editedTwice[run - 1] ?? first), "doc1")).history?.chunks;
  expect(await upTo(1)).toEqual(new Map());
  expect(await upTo(2)).toEqual(new Map([["a", { content: "before" }]]));
  expect(await upTo(3)).toEqual(new Map());
});

describe("a database", () => {
  const made = madeOnce(() =>
    databaseOf([[{ chunks: [chunk("a", { content: "before" })] }, { chunks: [chunk("a", { content: "after" })] }]]),
  );
  const last = within("doc1", { chunks: [chunk("a", { content: "after" })] });

  it.each<readonly [what: string, damage: (path: string) => Promise<void>, reason: string]>([
    ["is not there", (path) => rm(path), "there is no such file"],
    ["is a text", (path) => writeFile(path, "notes".repeat(5_000)), "it is not a DuckDB database"],
    ["lacks a table", (path) => change("DROP TABLE chunk_changes", path), "it was made by another version of kbdump"],
    [
      "lacks a column",
      (path) => change("ALTER TABLE chunk_changes DROP new_id", path),
      "it was made by another version of kbdump",
    ],
    ["lacks the run", (path) => change("DELETE FROM runs WHERE run_id = 'r2'", path), "it does not have this run"],
  ])("that %s gives a warning and no history", async (_what, damage, reason) => {
    const { path } = await made();
    await damage(path);
    const { history, warning } = await historyAt(path, "r2", last, "doc1");
    expect(history).toEqual(noHistory);
    expect(warning).toBe(
      `the history in ${path} was not used: ${reason}; edits are then recognized only by their author, and the text before them is not known`,
    );
  });

  it("that another program is writing to causes a warning and no history", async () => {
    const { path } = await made();
    const script = `const { DuckDBInstance } = await import("@duckdb/node-api");
      const instance = await DuckDBInstance.create(${JSON.stringify(path)}); console.log("open"); setInterval(() => instance, 1000);`;
    const writer = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(writer.stdout, "data");
    try {
      const { history, warning } = await historyAt(path, "r2", last, "doc1");
      expect([history, warning]).toEqual([
        noHistory,
        expect.stringContaining("another program has it open for writing"),
      ]);
    } finally {
      writer.kill();
      await once(writer, "close");
    }
  });

  it("is not changed, and its history is read", async () => {
    const { path } = await made();
    expect(await historyAt(path, "r2", last, "doc1")).toEqual({
      history: { ...noHistory, chunks: new Map([["a", { content: "before" }]]) },
      warning: undefined,
    });
  });
});
