import { expect, test } from "vitest";
import { widthOf } from "../../../src/cli/display-width.js";
import {
  appliedOf,
  documentOf,
  everything,
  idOf,
  listedOf,
  manual,
  restoreOf,
  resultOf,
} from "../../restore/lost/made-result.js";
import { invocation, renderRestored, terminalOf, wide } from "./pages.js";

const folder = "output/nightly/runs/20261119T020000123Z.restore";
const places = `  ${folder}/before/runs/20261120T020000123Z/  the undo: the documents before the first write
  ${folder}/journal.jsonl                     every request and its answer

The next re-index loses all of it again. To keep a text for good, put it into the source document.`;
const lost = documentOf({ restores: [restoreOf(1), restoreOf(2)] });

test("restored and proved: how many, the cost, and the path of the undo", () => {
  const applied = { rows: [appliedOf(1), appliedOf(2)], writes: 2 };
  const result = resultOf([lost], { applied, differences: [] });
  expect(renderRestored(result, wide, invocation)).toBe(`restored: 2 of 2; proved
2 write requests to https://kb.example.com/v1, 34 characters embedded

${places}`);
});

test("partial: each row that is missing below its document, with the reason and the next step", () => {
  const other = documentOf({
    document_id: idOf(5),
    document_name: null,
    refused: "it is archived; take it out of the archive first",
  });
  const rows = [
    appliedOf(12),
    appliedOf(40, { outcome: "still enabled", reason: "the service says that it is indexing" }),
    appliedOf(21, { outcome: "failed", reason: "POST https://kb.example.com/v1/segments: 500 internal error" }),
    appliedOf(7, { outcome: "changed meanwhile", reason: "its text is another one" }),
  ];
  const result = resultOf([everything, other], { applied: { rows, writes: 5 }, differences: [] });
  expect(
    renderRestored(result, wide, { ...invocation, args: [...invocation.args, "--apply", "--yes"] }),
  ).toBe(`partial: 1 of 7 restored; proved: nothing else changed
5 write requests to https://kb.example.com/v1, at most 117 characters embedded

Not restored:
  ${idOf(5)}
    refused: it is archived; take it out of the archive first
  "Manual.md" (${manual})
    chunk at 40 ${idOf(40)}
      still enabled: the service says that it is indexing
      → run the command again; the service accepts no change of a chunk for 10 minutes after the last one
    chunk at 21 ${idOf(21)}
      failed: 500 internal error (POST https://kb.example.com/v1/segments)
      → run the command again; nothing is written twice
    chunk at 7 ${idOf(7)}
      changed meanwhile: its text is another one
      → look at it in the service, then plan again
    chunk at 91 ${idOf(91)}
      needs your decision: The target does not have the text that the edit replaced.
    child chunk at 92 ${idOf(92)}
      needs your decision: Its parent chunk is not in the target.
      → put it back by hand
    chunk at 93 ${idOf(93)}
      cannot be restored: A part of its text is blank.
      → put it back by hand

Once the cause is gone:
  kbdump restore nightly@20261119 --apply

Decide on 1 row: write the plan as a list, say yes or no there, and pass it with --plan:
  kbdump restore nightly@20261119 --plan-out plan.yaml
or add them all at the end of their documents:
  kbdump restore nightly@20261119 --manual-edits

2 other rows left alone, found inside a chunk or as you decided: --json lists all

${places}`);
});

test("the proof found a difference: each with its place", () => {
  const difference = {
    document_id: manual,
    level: "chunk",
    id: idOf(3),
    position: 3,
    reason: "its content is not the one from before",
  } as const;
  const result = resultOf([lost], {
    applied: { rows: [appliedOf(1), appliedOf(2)], writes: 2 },
    differences: [difference],
  });
  expect(
    renderRestored(result, wide, invocation),
  ).toContain(`different: 2 of 2 restored, but the proof found 1 difference
2 write requests to https://kb.example.com/v1, 34 characters embedded

Found by the proof:
  "Manual.md" (${manual})
    chunk at 3 ${idOf(3)}
      its content is not the one from before

`);
});

test("after an earlier process wrote everything, this one proves it", () => {
  const result = resultOf([documentOf({ present: 2 })], { applied: { rows: [], writes: 2 }, differences: [] });
  expect(renderRestored(result, wide, invocation)).toMatch(/^restored: everything was written before; proved\n/);
});

test("without a proof, it does not say proved", () => {
  const applied = { rows: [appliedOf(1), appliedOf(2, { outcome: "there" })], writes: 1 };
  expect(renderRestored(resultOf([lost], { applied }), wide, invocation)).toMatch(
    /^partial: 2 of 2 restored; not proved\n/,
  );
});

test("without any writes, it is the plan", () => {
  const result = resultOf([documentOf({ listed: [listedOf(1, { why: "left out" })] })], {
    applied: { rows: [], writes: 0 },
  });
  expect(renderRestored(result, wide, invocation)).toContain("\nplan: 0 rows to write\n1 row left out, as you decided");
  expect(renderRestored(resultOf([everything]), wide, invocation)).toContain("\nplan: 6 rows to write: ");
});

test("nothing could be written: it says so, and counts no requests", () => {
  const untouched = { applied: { rows: [], writes: 0 }, undo: null, journal: null };
  const few = resultOf([documentOf({ listed: [listedOf(1)] })], untouched);
  expect(renderRestored(few, wide, { ...invocation, args: [...invocation.args, "--apply", "--yes"] })).toBe(
    `nothing to write: 1 row is left alone

Not restored:
  "Manual.md" (${manual})
    chunk at 1 ${idOf(1)}
      needs your decision: It is not known what stood there before.

Decide on 1 row: write the plan as a list, say yes or no there, and pass it with --plan:
  kbdump restore nightly@20261119 --plan-out plan.yaml
or add them all at the end of their documents:
  kbdump restore nightly@20261119 --manual-edits`,
  );
  const refused = documentOf({ document_id: idOf(5), refused: "it is archived" });
  const both = renderRestored(
    resultOf([documentOf({ listed: [listedOf(1), listedOf(2)] }), refused], untouched),
    wide,
    invocation,
  );
  expect(both).toMatch(/^nothing to write: 2 rows are left alone, 1 document is refused\n/);
  expect(renderRestored(resultOf([refused], untouched), wide, invocation)).toMatch(
    /^nothing to write: 1 document is refused\n/,
  );
});

test("of each document, the first ten rows that are missing are shown, failed writes first", () => {
  const listed = Array.from({ length: 37 }, (_, at) => listedOf(200 + at));
  const other = documentOf({ document_id: idOf(5), listed: [listedOf(300)] });
  const rows = [appliedOf(1), appliedOf(2, { outcome: "failed", reason: "500" })];
  const result = resultOf([documentOf({ ...lost, listed }), other], { applied: { rows, writes: 2 }, differences: [] });
  const shown = renderRestored(result, wide, invocation);
  expect(shown).toContain(`chunk at 2 ${idOf(2)}\n      failed: 500\n`);
  expect(shown).toContain(idOf(208));
  expect(shown).not.toContain(idOf(209));
  expect(shown).toContain(
    `    … and 28 others: --json lists all\n  "Manual.md" (${idOf(5)})\n    chunk at 300 ${idOf(300)}`,
  );
  expect(shown).toContain("\nDecide on 38 rows: ");
});

test("findings about a document that is not in the plan are also shown, up to a hundred", () => {
  const differences = Array.from({ length: 105 }, (_, at) => {
    return { document_id: idOf(5), level: "chunk", id: idOf(at + 10), position: at, reason: "twice" } as const;
  });
  const result = resultOf([lost], { applied: { rows: [appliedOf(1)], writes: 1 }, differences });
  const printed = renderRestored(result, wide, invocation);
  expect(printed).toContain(`Found by the proof:\n  ${idOf(5)}\n`);
  expect(printed).toContain(idOf(109));
  expect(printed).not.toContain(idOf(110));
  expect(printed).toContain("\n    … and 5 others: --json lists all\n");
});

test("of many documents, the first hundred are named", () => {
  const refused = Array.from({ length: 103 }, (_, at) =>
    documentOf({ document_id: idOf(at), refused: "it is archived" }),
  );
  const printed = renderRestored(resultOf(refused, { applied: { rows: [], writes: 1 } }), wide, invocation);
  expect(printed).toContain(
    `  "Manual.md" (${idOf(99)})\n    refused: it is archived\n  … and 3 others: --json lists all\n`,
  );
});

test("text of the service moves no cursor, and no line is wider than the terminal", () => {
  const nasty = "evil\x1b[2J\r\n\u202etext 从打开阀门开始 ".repeat(30);
  const rows = [appliedOf(1, { outcome: "failed", reason: nasty }), appliedOf(2)];
  const named = documentOf({ document_name: nasty, refused: nasty, listed: [listedOf(3)] });
  const result = resultOf([named], { applied: { rows, writes: 2 }, differences: [], undo: "undo", journal: "journal" });
  for (const columns of [80, 40]) {
    const lines = renderRestored(result, terminalOf(columns), { ...invocation, args: [] }).split("\n");
    expect(lines.filter((line) => widthOf(line) > columns)).toEqual([]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours are ours, all else is not
    expect(lines.join("").replace(/\x1b\[\d+m/g, "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  }
});
