import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, it, onTestFinished } from "vitest";
import { child, chunk, JobDatabase, madeOnce, read } from "./job-database.js";

/** Opens the database in another process; returns a function that queries it. */
async function reader(file: string, access: "READ_ONLY" | "READ_WRITE") {
  const process = spawn("node", [`${import.meta.dirname}/read-on-request.mjs`, file, access], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(async () => {
    process.stdin.end();
    await once(process, "exit");
  });
  const lines = createInterface({ input: process.stdout })[Symbol.asyncIterator]();
  const next = async () => (await lines.next()).value;
  expect(await next()).toBe("open");
  return async (sql: string): Promise<unknown> => {
    process.stdin.write(`${sql.replace(/\s+/g, " ")}\n`);
    return JSON.parse(String(await next()));
  };
}

const oneRun = madeOnce(async () => {
  const database = await JobDatabase.create();
  await database.run("r1", {
    chunks: [chunk("a", "a1", { content: "old" })],
    child_chunks: [child("a", "a1", "x")],
    documents: [read("a")],
  });
  return database;
});

const counts = `SELECT (SELECT count(*) FROM chunks)::INTEGER, (SELECT count(*) FROM child_chunks)::INTEGER,
  (SELECT max(run_id) FROM runs), (SELECT string_agg(content, '' ORDER BY id) FROM chunks)`;

it.each(["READ_ONLY", "READ_WRITE"] as const)(
  "a reader that has the file open (%s) neither blocks a run nor is blocked",
  async (access) => {
    const database = await oneRun();
    const ask = await reader(database.path, access);
    expect(await ask(counts)).toEqual([[1, 1, "r1", "old"]]);

    const chunks = Array.from({ length: 500 }, (_each, at) => chunk("a", `n${at}`, { content: "n" }));
    const run = database.run("r2", { chunks, documents: [read("a")] });
    expect(await ask(counts)).toEqual([[1, 1, "r1", "old"]]);
    await run;
    await database.run("r3", { chunks: [chunk("b", "b1", { content: "b" })], documents: [read("b")] });

    expect(await ask("SELECT id, content, run_id FROM chunks")).toEqual([["a1", "old", "r1"]]); // still the old file
    expect(await ask(counts)).toEqual([[1, 1, "r1", "old"]]);
    expect(await database.query(counts)).toEqual([[501, 0, "r3", `b${"n".repeat(500)}`]]);
  },
);

it("a run updates a database while it is being read, and readers see the result while they read the new file", async () => {
  const database = await oneRun();
  const readers = [await reader(database.path, "READ_ONLY"), await reader(database.path, "READ_ONLY")];
  await database.run("r2", { chunks: [chunk("b", "b1")], documents: [read("b")] });
  readers.push(await reader(database.path, "READ_ONLY"));
  const found = await Promise.all(readers.map((ask) => ask("SELECT id, run_id FROM chunks ORDER BY id")));
  expect(found).toEqual([
    [["a1", "r1"]],
    [["a1", "r1"]],
    [
      ["a1", "r1"],
      ["b1", "r2"],
    ],
  ]);
});

it("a program that changes the old file does not affect the new one, and is not disturbed", async () => {
  const database = await JobDatabase.create();
  const chunks = ["1", "2", "3", "4"].map((id) => chunk("a", id, { content: "theirs" }));
  await database.run("r1", { chunks, documents: [read("a")] });
  const ask = await reader(database.path, "READ_WRITE");
  await ask("DELETE FROM chunks WHERE id = '1'");
  await ask("UPDATE chunks SET content = 'mine' WHERE id = '2'");
  await database.run("r2", { chunks, documents: [read("a")] });
  const mine = [
    ["2", "mine"],
    ["3", "theirs"],
    ["4", "theirs"],
  ];
  const theirs = chunks.map(({ id }) => [id, "theirs"]);
  const all = "SELECT id, content FROM chunks ORDER BY id";
  expect(await database.query(all)).toEqual(theirs);
  expect(await ask(all)).toEqual(mine);
  await ask("DELETE FROM chunks");
  expect(await database.query(all)).toEqual(theirs);
});
