import { expect, test } from "vitest";
import type { Dialogue } from "../../../src/cli/dialogue.js";
import { askAbout } from "../../../src/commands/restore/questions.js";
import type { Decision } from "../../../src/compare/lost/decisions.js";
import { InterruptedError } from "../../../src/errors.js";
import {
  documentOf,
  everything,
  idOf,
  listedOf,
  manual,
  restoreOf,
  resultOf,
  targetOf,
} from "../../restore/lost/made-result.js";

/** Answers questions from this list, in order; records the notes and questions. */
function answering(answers: readonly string[]) {
  const heard: string[] = [];
  let at = 0;
  const unasked = () => Promise.reject(new Error("nobody should ask this"));
  const dialogue: Dialogue = {
    isInteractive: true,
    say: (text) => void heard.push(text),
    ask: unasked,
    chooseMany: unasked,
    choose: async ({ message, choices }) => {
      heard.push(`? ${message} ${choices.map(({ label }) => label).join(" / ")}`);
      const answer = answers[at++];
      const choice = choices.find(({ value }) => value === answer);
      if (choice === undefined) throw new InterruptedError("SIGINT");
      return choice.value;
    },
  };
  return { dialogue, heard };
}

/** Two documents: in the first, every row has a target; in the second, two rows need a decision. */
const [placed, open] = [
  documentOf({ restores: [restoreOf(1), restoreOf(2, { target: targetOf(102, "Now.") })] }),
  documentOf({
    document_id: idOf(800),
    document_name: "Other.md",
    restores: [restoreOf(3)],
    listed: [listedOf(4, { choice: "replace", now: "Changed by others." }), listedOf(5)],
  }),
];
const asPlanned = { go: true, decisions: undefined };
/** Decisions by row number. */
const decided = (rows: Readonly<Record<number, Decision>>) => ({
  go: true,
  decisions: new Map(Object.entries(rows).map(([number, decision]) => [idOf(Number(number)), decision])),
});
const plannedRows = {
  1: { restore: true, now: null, now_answer: null },
  2: { restore: true, now: "Now.", now_answer: null },
  3: { restore: true, now: null, now_answer: null },
};

test("each document is asked about, then the whole, with host and number of rows", async () => {
  const { dialogue, heard } = answering(["planned", "planned", "yes"]);
  expect(await askAbout(resultOf([placed, open]), dialogue)).toEqual(asPlanned);
  expect(heard).toEqual([
    `1 of 2: "Manual.md" ${manual}`,
    "? What do you want to restore? 2 rows, as planned / nothing of this document",
    `2 of 2: "Other.md" ${idOf(800)}`,
    "? What do you want to restore? 1 row, as planned / these, and the 2 rows that need a decision / nothing of this document",
    "? Send 3 write requests or more to kb.example.com? No, write nothing / Yes, restore 3 rows",
  ]);
});

test("these, and the others: all rows of the document, only while the text that was shown is still there", async () => {
  const { dialogue, heard } = answering(["planned", "all", "yes"]);
  expect(await askAbout(resultOf([placed, open]), dialogue)).toEqual(
    decided({
      ...plannedRows,
      4: { restore: true, now: "Changed by others.", now_answer: null },
      5: { restore: true, now: null, now_answer: null },
    }),
  );
  expect(heard.at(-1)).toContain("Yes, restore 5 rows");
});

test("nothing of a document: its rows stay unchanged, those of the other do not", async () => {
  const { dialogue, heard } = answering(["none", "planned", "yes"]);
  expect(await askAbout(resultOf([placed, open]), dialogue)).toEqual(
    decided({ 1: { restore: false }, 2: { restore: false }, 3: { restore: true, now: null, now_answer: null } }),
  );
  expect(heard.at(-1)).toContain("Yes, restore 1 row");
  const nothing = answering(["none", "none"]);
  expect(await askAbout(resultOf([placed, open]), nothing.dialogue)).toEqual(
    decided(Object.fromEntries([1, 2, 3, 4, 5].map((number) => [number, { restore: false }]))),
  );
  expect(nothing.heard.filter((text) => text.includes("Send"))).toEqual([]);
});

test("one document whose rows all have a place needs the last question only; no is its first choice", async () => {
  const { dialogue, heard } = answering(["no"]);
  expect(await askAbout(resultOf([placed]), dialogue)).toEqual({ ...asPlanned, go: false });
  expect(heard).toEqual(["? Send 2 write requests or more to kb.example.com? No, write nothing / Yes, restore 2 rows"]);
});

test("the child chunks of a chunk are separate rows", async () => {
  const { dialogue } = answering(["all", "yes"]);
  const { go, decisions } = await askAbout(resultOf([everything]), dialogue);
  expect(go).toBe(true);
  const rows = [12, 40, 21, 7, 71, 73, 91].map(idOf);
  expect([...(decisions ?? [])].flatMap(([id, { restore }]) => (restore ? [id] : []))).toEqual(rows);
});

test("a document without a row to write or to decide on is not asked about", async () => {
  const { dialogue, heard } = answering([]);
  const listed = [
    listedOf(1, { choice: null }),
    listedOf(2, { why: "found inside" }),
    listedOf(3, { why: "left out" }),
  ];
  expect(await askAbout(resultOf([documentOf({ listed })]), dialogue)).toEqual(asPlanned);
  expect(heard).toEqual([]);
});

test("Ctrl-C ends it", async () => {
  const { dialogue } = answering([]);
  await expect(askAbout(resultOf([everything]), dialogue)).rejects.toThrow(InterruptedError);
});
