import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { html } from "../../../src/report/page/html.js";
import { type LostCard, lostSection } from "../../../src/report/sections/lost.js";
import type { Row } from "../../../src/rows/row.js";
import { runHere } from "../../cli/run-here.js";
import { tablesOf } from "../../compare/diff/dumps.js";
import { plainFolder } from "../../dump/formats/folder.js";
import type { Tables } from "../../dump/formats/stage.js";
import { inFull } from "../../rounds.js";
import { chunk, details, document, settings } from "../../verify/sound-tables.js";
import { type WriteOptions, writeDump } from "../../verify/write-dump.js";
import { gathered, runsAroundReindex } from "./two-runs.js";

const [early, work] = [
  [{ do: "edit", at: 3 }],
  [
    ...[{ do: "edit", at: 0 } as const, { do: "disable", at: 1 } as const, { do: "edit child", at: 2 } as const],
    ...[{ do: "add child", at: 2 } as const, { do: "edit and disable", at: 5 } as const, { do: "add" } as const],
    ...[{ do: "add and disable" } as const, { do: "edit keywords", at: 6 } as const],
  ],
] as const;

/** Describes a card in one line. */
function described({ change, edit, reason }: LostCard): string {
  const { kind, level, old_position, manual_edit } = change;
  const who = `${edit?.by ? "somebody" : "nobody"} ${edit?.at ? "then" : "never"}`;
  return `${kind} ${level} ${old_position}: ${manual_edit} by ${who}; ${reason}`;
}

/** Splits a command into words like a shell. */
function wordsOf(command: string): readonly string[] {
  const script = `kbdump() { printf '%s\\0' "$@"; }; ${command}`;
  return execFileSync("sh", ["-c", script], { encoding: "utf8" }).split("\0").slice(0, -1);
}

test.runIf(inFull)(
  "the cards show the manual edits that a re-index removed, and the commands restore them",
  async () => {
    const { older, newer, database } = await runsAroundReindex(early, work);
    const facts = await gathered(older, newer, { database });
    expect([facts.diff.lost, facts.diff.manual_edits, facts.warnings]).toEqual([22, 9, []]);
    const service = "null by nobody never; There is no evidence that a person made or edited it.";
    expect(facts.cards.slice(0, 10).map(described)).toEqual([
      "changed chunk 1: edited by somebody then; null",
      "fields chunk 2: disabled by somebody then; null",
      "removed child_chunk 1: customized by nobody then; null",
      "removed child_chunk 3: customized by nobody then; null",
      expect.stringMatching(
        /^changed chunk 4: edited by somebody then; A person edited it, and the text before the edit is not known: the history /,
      ),
      "changed chunk 6: edited by somebody then; null",
      "fields chunk 7: edited by nobody never; null",
      "removed chunk 8: added by somebody then; null",
      "removed chunk 9: added by somebody then; null",
      `removed child_chunk 1: ${service}`,
    ]);
    const page = html`${lostSection(facts, { content: true }).body}`.toString();
    expect(page).toContain("This is the added sentence number 37. This is the added sentence number 38.");

    const plan = await runHere([...wordsOf(facts.commands.against), "--json"]);
    expect(plan.code, plan.stderr).toBe(0);
    const rows = facts.cards.filter(({ reason }) => reason === null).length;
    expect([JSON.parse(plan.stdout).rows ?? facts.restore.rows, facts.restore.rows]).toEqual([rows, rows]);
    const documents = await runHere([...wordsOf(facts.commands.documents), "--exit-zero"]);
    expect([documents.code, documents.stdout]).toEqual([0, expect.stringContaining("one.txt")]);

    const bare = html`${lostSection(await gathered(older, newer, { database, content: false }), { content: false }).body}`;
    expect(bare.toString()).not.toMatch(/sentence|one\.txt|Random/);
  },
  180_000,
);

const row = (document: string, id: string, position: number, content: string, more: Row = {}) =>
  chunk(document, id, { position, content, enabled: true, ...more });
const twoDumps = async (old: Tables, fresh: Tables, [one, other]: readonly WriteOptions[] = []) =>
  [await writeDump(await plainFolder(), old, one), await writeDump(await plainFolder(), fresh, other)] as const;
const anew = tablesOf([row("a", "n1", 1, "same")]);

test.runIf(inFull)("a hundred rows get a card, those with manual edits first", async () => {
  const plain = Array.from({ length: 130 }, (_, at) => row("a", `p${at}`, at + 1, `text ${at}`));
  const old = tablesOf([...plain, row("a", "mine", 200, "mine", { updated_by: "ann" }), row("a", "s", 0, "same")]);
  const facts = await gathered(...(await twoDumps(old, anew)));
  expect([facts.diff.lost, facts.diff.manual_edits, facts.cards.length, facts.restore.rows]).toEqual([131, 1, 100, 0]);
  expect(facts.cards.slice(0, 2).map(({ change, reason }) => [change.old_id, reason])).toEqual([
    ["mine", expect.stringMatching(/^A person edited it, .* not known: there is no database of the job/)],
    ["p0", "There is no evidence that a person made or edited it."],
  ]);
});

test("rows that only the service can place are counted, and the commands that ask it come first", async () => {
  const old = tablesOf([row("a", "a1", 1, "same"), row("a", "a2", 2, "mine", { updated_by: "ann" })]);
  const folders = await twoDumps({ ...old, datasets: [settings("d")], document_details: [details("a")] }, anew);
  const facts = await gathered(...folders);
  expect(facts.restore).toMatchObject({ rows: 0, more: 1 });
  const { lead, next, body } = lostSection(facts, { content: true });
  expect(html`${lead}`.toString()).toContain("1 row may come back: the service has details");
  expect(next?.command).toBe(facts.commands.restore);
  const page = html`${body}`.toString();
  const { restore, apply, against } = facts.commands;
  const at = [restore, apply, against].map((command) => page.indexOf(`>${command}<`));
  expect(at).toEqual(at.toSorted((one, other) => one - other));
  expect(at).not.toContain(-1);
  expect([restore, apply].filter((command) => command.includes("--against"))).toEqual([]);
  expect(page).toContain("It leaves out 1 row that may come back, because the newer run has no details");
});

test("a run that is not fit for a restore shows its losses, and says why none can come back", async () => {
  const old = tablesOf([row("a", "a1", 1, "same"), row("a", "a2", 2, "=1+1", { updated_by: "ann" })]);
  const safe = { formats: ["csv"], csvSafe: true } as const;
  const { cards, restore } = await gathered(...(await twoDumps(old, anew, [safe, {}])));
  expect(cards.map(({ change }) => change.old_beginning)).toEqual(["=1+1"]);
  expect(restore.refused).toMatch(/^The older run cannot be used for a restore: its texts are not exact: csv_safe/);
});

test.runIf(inFull)("a database that cannot be used is named without the folders of this machine", async () => {
  const [older, newer] = await twoDumps(tablesOf([row("a", "a1", 1, "mine", { updated_by: "ann" })]), anew);
  const database = join(older, "..", "broken.duckdb");
  await writeFile(database, "no database");
  const { warnings } = await gathered(older, newer, { database });
  expect(warnings).toEqual([
    expect.stringMatching(/^the history in the database of the job was not used: it is not a DuckDB/),
  ]);
});

test("the answer limits itself to documents that could be compared", async () => {
  const old = tablesOf([row("a", "a1", 1, "mine"), row("b", "b1", 1, "yours"), row("c", "c1", 1, "ours")]);
  const fresh = tablesOf([row("c", "c1", 1, "ours")]);
  const failed = document("a", 0, 0, { status: "failed", error: "no answer" });
  const folders = await twoDumps(old, { ...fresh, documents: [failed, document("c", 1, 0)] });
  const { short, lead } = lostSection(await gathered(...folders), { content: true });
  expect([short, html`${lead}`.toString()]).toEqual([
    "Nothing known",
    "Since the run of 2025-03-06, as far as the runs can be compared, no document was re-indexed. 1 document could not be compared: what was lost there is not known. 1 document of the older run is not in this one at all.",
  ]);
});
