import { expect, test } from "vitest";
import type { Dialogue } from "../../../src/cli/dialogue.js";
import { askAbout } from "../../../src/commands/restore/questions.js";
import { InterruptedError } from "../../../src/errors.js";
import { documentOf, everything, idOf, listedOf, manual, restoreOf, resultOf } from "../../restore/made-result.js";

/** Gives these answers, one after the other, and keeps the notes and questions. */
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

test("each row that can be chosen is asked for, then the whole, with host and number of writes", async () => {
  const { dialogue, heard } = answering(["restore", "leave", "yes"]);
  expect(await askAbout(resultOf([everything]), dialogue)).toEqual({ go: true, chosen: [idOf(91)] });
  expect(heard).toEqual([
    `1 of 2: chunk at 91 ${idOf(91)} of "Manual.md"`,
    "conflict: the chunk says something else than before the edit",
    "- Changed by others.",
    "+ Lost 91.",
    "? Restore this chunk, too? No, leave it alone / Yes, in place of the text there / No, and none of the others",
    `2 of 2: chunk at 90 ${idOf(90)} of "Manual.md"`,
    "no evidence: nothing says that a person made it",
    "+ Lost 90.",
    "? Restore this chunk, too? No, leave it alone / Yes, at the end / No, and none of the others",
    "? Send 8 write requests or more to kb.example.com? No, write nothing / Yes, restore 7 rows",
  ]);
});

test("no is the first choice of every question; it writes nothing", async () => {
  const { dialogue, heard } = answering(["leave", "leave", "no"]);
  expect(await askAbout(resultOf([everything]), dialogue)).toEqual({ go: false, chosen: [] });
  for (const question of heard.filter((text) => text.startsWith("? "))) expect(question).toMatch(/\? No, /);
});

test("none of the others: the questions end, and what was chosen before stays chosen", async () => {
  const { dialogue, heard } = answering(["restore", "stop", "yes"]);
  const listed = [1, 2, 3, 4].map((number) => listedOf(number, { why: "conflict" }));
  expect(await askAbout(resultOf([documentOf({ listed, document_name: null })]), dialogue)).toEqual({
    go: true,
    chosen: [idOf(1)],
  });
  expect(heard[0]).toBe(`1 of 4: chunk at 1 ${idOf(1)} of ${manual}`);
  expect(heard.at(-1)).toBe("? Send 1 write request or more to kb.example.com? No, write nothing / Yes, restore 1 row");
});

test("rows without evidence are asked for where they are few, and no more than fifty rows in all", async () => {
  const rows = (count: number, why: "no evidence" | "unknown before") =>
    Array.from({ length: count }, (_, at) => listedOf(at, { why }));
  const expectAsked = async (count: number, listed: ReturnType<typeof rows>) => {
    const { dialogue, heard } = answering([...Array.from({ length: count }, () => "leave"), "yes"]);
    await askAbout(resultOf([documentOf({ listed, restores: [restoreOf(900)] })]), dialogue);
    expect(heard.filter((text) => text.startsWith("? Restore"))).toHaveLength(count);
  };
  await expectAsked(20, rows(20, "no evidence"));
  await expectAsked(0, rows(21, "no evidence"));
  await expectAsked(3, [...rows(21, "no evidence"), ...rows(3, "unknown before")]);
  await expectAsked(50, rows(60, "unknown before"));
});

test("where nothing is to be written, nobody is asked for the whole", async () => {
  const { dialogue, heard } = answering([]);
  const listed = [listedOf(1, { why: "conflict", choice: null })];
  expect(await askAbout(resultOf([documentOf({ listed })]), dialogue)).toEqual({ go: true, chosen: [] });
  expect(heard).toEqual([]);
});

test("Ctrl-C ends it", async () => {
  const { dialogue } = answering([]);
  await expect(askAbout(resultOf([everything]), dialogue)).rejects.toThrow(InterruptedError);
});
