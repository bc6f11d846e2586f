import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { LostCard } from "../../../src/report/lost-facts.js";
import type { Row } from "../../../src/rows/row.js";
import { tablesOf, twoDumps } from "../../compare/diff/dumps.js";
import { child, chunk, document, info } from "../../verify/sound-tables.js";
import { gathered } from "./two-runs.js";

const uuid = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
const strange = '\ufeffedited\0 "by hand"\r\n漢字 😀, =1+1';
const made = { created_at: "2025-03-06T01:00:00Z", enabled: true, status: "completed" };
const row = (document: string, id: string, position: number, content: string, more: Row = {}) =>
  chunk(document, id, { ...made, position, content, ...more });
const anew = tablesOf([row("a", "t1", 1, "same")]);
const wordsOf = ({ content, answer }: LostCard) => [content, answer].map(([part]) => part);

test("a lost row has the beginning of its texts, exactly as they were sent, and says how much more there is", async () => {
  const long = `${"漢😀".repeat(1_000)}${"x".repeat(1_000_000)}`;
  const old = tablesOf(
    [
      row("a", "a1", 1, "same"),
      row("a", "a2", 2, strange, { answer: long, updated_by: "ann", updated_at: "2025-03-07T08:09:10Z" }),
      row("a", "a3", 3, long, { created_by: "bob", created_at: "2025-04-06T01:00:00Z" }),
      row("a", "a4", 4, "", { updated_by: "ann" }),
    ],
    [
      child("a", "a1", "k1", { type: "customized", content: strange, updated_at: "2025-03-08T00:00:00Z" }),
      child("a", "a2", "k1", { type: "customized", content: "below another", created_at: "2025-03-09T00:00:00Z" }),
    ],
  );
  const { cards, ...facts } = await gathered(...(await twoDumps({ ...old, document_info: [info("a")] }, anew)));
  expect(facts).toMatchObject({ lost: 5, lost_by_hand: 5, left_out: 0 });
  expect(cards.map(({ id, edit, by, at, document_name }) => [id, edit, by, at, document_name])).toEqual([
    ["k1", "customized", null, Date.parse("2025-03-08"), "a.md"],
    ["a2", "edited", "ann", Date.parse("2025-03-07T08:09:10Z"), "a.md"],
    ["k1", "customized", null, Date.parse("2025-03-09"), "a.md"],
    ["a3", "added", "bob", Date.parse("2025-04-06T01:00:00Z"), "a.md"],
    ["a4", "edited", "ann", Date.parse("2025-03-06T01:00:00Z"), "a.md"],
  ]);
  const beginning = { kind: "removed", text: `${"漢😀".repeat(1_000)}…`, cut: 1_000_000 };
  expect(cards.map(wordsOf)).toEqual([
    [{ kind: "removed", text: strange, cut: 0 }, undefined],
    [{ kind: "removed", text: strange, cut: 0 }, beginning],
    [{ kind: "removed", text: "below another", cut: 0 }, undefined],
    [beginning, undefined],
    [undefined, undefined],
  ]);
});

test("a hundred rows get a card, those made by hand first; each can be chosen by its id, if that is a UUID", async () => {
  const plain = Array.from({ length: 130 }, (_, at) => row("a", at === 0 ? "odd" : uuid(at), at + 1, `text ${at}`));
  const edited = row("a", uuid(999), 200, "mine", { updated_by: "ann" });
  const rows = [...plain, edited, row("a", "same", 0, "same")].map((each) => ({ ...each, document_id: uuid(7) }));
  const target = tablesOf([row(uuid(7), "t1", 1, "same")]);
  const facts = await gathered(...(await twoDumps(tablesOf(rows), target)));
  expect(facts).toMatchObject({ lost: 131, lost_by_hand: 1, left_out: 31 });
  expect(facts.restore).toEqual({
    command: null,
    apply: null,
    rows: 0,
    reason: "No lost row has evidence that a person made it.",
  });
  expect(facts.cards.slice(0, 3).map(({ id, edit, reason, command }) => [id, edit, reason, command])).toEqual([
    [
      uuid(999),
      "edited",
      "A person edited it, and no run has the text before the edit.",
      expect.stringMatching(` --against \\S+ --document ${uuid(7)} --chunk ${uuid(999)}$`),
    ],
    ["odd", null, "Nothing proves that a person made or edited it.", null],
    [uuid(1), null, "Nothing proves that a person made or edited it.", expect.stringMatching(`--chunk ${uuid(1)}$`)],
  ]);
  expect(facts.cards).toHaveLength(100);
});

test("a run that is not fit for a restore shows its losses, and says why none can come back", async () => {
  const old = tablesOf([row("a", "a1", 1, "same"), row("a", "a2", 2, "=1+1", { updated_by: "ann" })]);
  const safe = { formats: ["csv"], csvSafe: true } as const;
  const { cards, restore, warnings } = await gathered(...(await twoDumps(old, anew, [safe, {}])));
  expect(cards.map(wordsOf)).toEqual([[{ kind: "removed", text: "=1+1", cut: 0 }, undefined]]);
  expect(cards).toMatchObject([
    { command: null, has_evidence: false, reason: "No row of these runs can be restored." },
  ]);
  expect(restore).toEqual({
    command: null,
    apply: null,
    rows: 0,
    reason:
      "The older run cannot be used for a restore: its texts are not exact: csv_safe changes them; a restore needs jsonl, parquet, or csv without csv_safe.",
  });
  expect(warnings).toEqual([expect.stringContaining("csv_safe")]);
  const filtered = { options: { datasets: [{ id: "d", keyword: "x" }] } };
  const newer = await gathered(...(await twoDumps(old, anew, [{}, filtered])));
  expect(newer.restore.reason).toMatch(/^The newer run cannot be used for a restore: its run left out chunks: .* d\.$/);
});

test("a database that cannot be used is named without the folders of this machine", async () => {
  const old = tablesOf([row("a", "a1", 1, "mine", { updated_by: "ann" })]);
  const [older, newer] = await twoDumps(old, anew);
  const database = join(older, "..", "broken.duckdb");
  await writeFile(database, "no database");
  const { warnings } = await gathered(older, newer, { database });
  expect(warnings).toEqual([
    expect.stringMatching(/^the history in the database of the job was not used: it is not a DuckDB/),
  ]);
});

test("a document that cannot be restored says why, without the words of the service if there is to be no content", async () => {
  const old = tablesOf([row("a", "a1", 1, "mine", { updated_by: "ann" })]);
  const qa = { ...anew, documents: [document("a", 1, 0, { doc_form: "qa_model" })] };
  const folders = await twoDumps(old, qa);
  const reasonIn = async (content: boolean) => (await gathered(...folders, { content })).cards[0]?.reason;
  expect(await reasonIn(true)).toBe("It was text_model and is qa_model now: its chunks cannot be compared.");
  expect(await reasonIn(false)).toBe("Nothing of its document can be restored.");
});

test("the documents with the most lost rows made by hand come first; those that are the same are left out", async () => {
  const lost = (document: string, count: number, more: Row = {}) =>
    Array.from({ length: count + 1 }, (_, at) => row(document, `${document}${at}`, at + 1, `text ${at}`, more));
  const kept = [row("s", "s1", 1, "same")];
  const old = tablesOf([...kept, ...lost("b", 3), ...lost("a", 3), ...lost("c", 1, { updated_by: "ann" })]);
  const fresh = tablesOf([...kept, ...["a", "b", "c"].map((id) => row(id, `${id}-`, 1, "text 0"))]);
  const { documents, reindexed } = await gathered(...(await twoDumps(old, fresh)));
  expect(reindexed).toBe(3);
  expect(documents.total).toBe(3);
  expect(documents.rows.map(({ document_id, lost, lost_by_hand }) => [document_id, lost, lost_by_hand])).toEqual([
    ["c", 1, 1],
    ["a", 3, 0],
    ["b", 3, 0],
  ]);
});

test("documents that cannot be compared, and those that are gone, are counted", async () => {
  const old = tablesOf([row("a", "a1", 1, "mine"), row("b", "b1", 1, "yours"), row("c", "c1", 1, "ours")]);
  const fresh = tablesOf([row("c", "c1", 1, "ours")]);
  const failed = document("a", 0, 0, { status: "failed", error: "no answer" });
  const folders = await twoDumps(old, { ...fresh, documents: [failed, document("c", 1, 0)] });
  const different = { lost: 0, reindexed: 0, not_compared: 1, gone: 1 };
  expect(await gathered(...folders)).toMatchObject(different);
});

test("runs of different jobs in different folders are named by their paths, with a warning", async () => {
  const old = tablesOf([row("a", "a1", 1, "mine", { updated_by: "ann" })]);
  const ids = ["20250306T132000000Z", "20250307T132000000Z"];
  const manifestOf = (at: number) => ({ manifest: { run_id: ids[at], job: `job${at}` } });
  const folders = await twoDumps(old, anew, [manifestOf(0), manifestOf(1)]);
  const [older, newer] = await Promise.all(
    folders.map(async (folder, at) => {
      const place = join(dirname(folder), `out${at}`, `job${at}`, "runs", ids[at] ?? "");
      await mkdir(dirname(place), { recursive: true });
      await rename(folder, place);
      return place;
    }),
  );
  const { query, warnings } = await gathered(older ?? "", newer ?? "");
  expect(await gathered(older ?? "", newer ?? "", { content: false })).toMatchObject({
    warnings: [],
    warning_count: 1,
  });
  expect(query).toMatch(/^kbdump diff \S+out0\/job0\/runs\/20250306T132000000Z \S+out1\/job1\/runs\/\d+T\d+Z --text$/);
  expect(warnings).toEqual(["these are runs of different jobs: job0 and job1"]);
});
