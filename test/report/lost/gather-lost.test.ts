import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import type { LostCard, LostFacts } from "../../../src/report/lost-facts.js";
import { runHere } from "../../cli/run-here.js";
import { runKbdump } from "../../cli/run-kbdump.js";
import { gathered, runsAroundReindex } from "./two-runs.js";

const [early, work] = [
  [{ do: "edit", at: 3 }],
  [
    ...[{ do: "edit", at: 0 } as const, { do: "disable", at: 1 } as const, { do: "edit child", at: 2 } as const],
    ...[{ do: "add child", at: 2 } as const, { do: "edit and disable", at: 5 } as const, { do: "add" } as const],
    ...[{ do: "add and disable" } as const, { do: "edit keywords", at: 6 } as const],
  ],
] as const;

/** A card in a line. */
function described({ loss, level, position, edit, by, at, reason, command }: LostCard): string {
  const who = `${by === null ? "nobody" : "somebody"} ${at === null ? "never" : "then"}`;
  const way = command === null ? "no command" : command.includes(" --chunk ") ? "choose it" : "by evidence";
  return `${loss} ${level} ${position}: ${edit} by ${who}; ${way}; ${reason}`;
}

/** The words of a command as a shell takes them. */
function wordsOf(command: string | null): readonly string[] {
  const script = `kbdump() { printf '%s\\0' "$@"; }; ${command}`;
  return execFileSync("sh", ["-c", script], { encoding: "utf8" }).split("\0").slice(0, -1);
}

/** The ids of the rows that the JSON of a plan writes. */
function planned(json: string): readonly string[] {
  const { plan, status }: { plan: { documents: { restores: Restore[] }[] }; status: string } = JSON.parse(json);
  expect(status).toBe("planned");
  const restores = plan.documents.flatMap((document) => document.restores);
  return restores
    .flatMap(({ chunk_id, texts, disable, children }) => [
      ...(texts || disable ? [chunk_id] : []),
      ...children.map(({ child_id }) => child_id),
    ])
    .sort();
}

interface Restore {
  readonly chunk_id: string;
  readonly texts: object | null;
  readonly disable: boolean;
  readonly children: readonly { readonly child_id: string }[];
}

const idsOf = (cards: readonly LostCard[]) => cards.map(({ id }) => id);
const proved = ({ cards }: LostFacts) => idsOf(cards.filter(({ has_evidence }) => has_evidence));
const keywordsOnly = "00000000-0000-4000-8000-000000000106";

test("the cards say what a re-index took of the work of people, and the commands bring back what they say", async () => {
  const { older, newer, database } = await runsAroundReindex(early, work);
  const facts = await gathered(older, newer, { database });
  expect(facts).toMatchObject({ reindexed: 1, lost: 21, lost_by_hand: 8, left_out: 0, warnings: [] });
  expect(facts.old).toMatchObject({ job: "test", run_id: older.slice(-19) });
  expect(facts.documents.rows).toMatchObject([
    { dataset_name: "Random", document_name: "one.txt", reindexed: true, lost: 21, lost_by_hand: 8, removed: 17 },
  ]);
  expect(facts.cards.slice(0, 9).map(described)).toEqual([
    "undone chunk 1: edited by somebody then; by evidence; null",
    "removed child_chunk 1: customized by nobody then; by evidence; null",
    "removed child_chunk 3: customized by nobody then; by evidence; null",
    "undone chunk 4: edited by somebody then; choose it; A person edited it, and no run has the text before the edit.",
    "undone chunk 6: edited by somebody then; by evidence; null",
    "removed chunk 8: added by somebody then; by evidence; null",
    "removed chunk 9: added by somebody then; choose it; It was added by hand, and then disabled.",
    "enabled chunk 2: disabled by somebody then; by evidence; null",
    "removed child_chunk 1: null by nobody never; no command; The service makes such child chunks itself, and nothing proves that a person made this one.",
  ]);
  const [edited, , , unknown, , added, , enabled] = facts.cards;
  expect(edited?.content.filter(({ kind }) => kind !== "same").map(({ kind, text }) => `${kind} ${text}`)).toEqual([
    ...["removed edited", "added automatic", "removed 31", "added 1"],
    ...["removed edited", "added automatic", "removed 32", "added 2"],
  ]);
  expect(added?.content.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
    "removed This is the added sentence number 37. This is the added sentence number 38.",
  ]);
  expect(enabled?.content).toEqual([{ kind: "same", text: expect.stringMatching(/sentence/), cut: 0 }]);

  const whole = await runKbdump([...wordsOf(facts.restore.command), "--json"]);
  expect(whole.code, whole.stderr).toBe(0);
  expect(planned(whole.stdout)).toEqual([...proved(facts), keywordsOnly].sort());
  expect(facts.restore).toMatchObject({ rows: planned(whole.stdout).length, reason: null });
  const words = wordsOf(facts.restore.command);
  const against = words.indexOf("--against");
  expect(wordsOf(facts.restore.apply)).toEqual([...words.slice(0, against), "--apply", ...words.slice(against + 2)]);
  for (const card of [edited, unknown]) {
    const { code, stdout } = await runHere([...wordsOf(card?.command ?? null), "--json"]);
    expect([code, planned(stdout)]).toEqual([0, [...new Set([...planned(whole.stdout), card?.id])].sort()]);
  }
  const documents = await runHere([...wordsOf(facts.documents.query), "--exit-zero"]);
  expect([documents.code, documents.stdout]).toEqual([0, expect.stringContaining("one.txt")]);
  expect(wordsOf(facts.query)).toEqual([
    ...wordsOf(facts.documents.query).slice(0, 3),
    "--text",
    "--out",
    expect.any(String),
  ]);

  const bare = await gathered(older, newer, { database, content: false });
  const shown = JSON.stringify(bare);
  expect(shown).not.toMatch(/sentence|one\.txt|Random/);
  expect(bare.cards.map(described)).toEqual(facts.cards.map((card) => described({ ...card, by: null })));
});
