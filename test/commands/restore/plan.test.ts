import { expect, test } from "vitest";
import { widthOf } from "../../../src/cli/display-width.js";
import {
  documentOf,
  editOf,
  everything,
  idOf,
  listedOf,
  manual,
  restoreOf,
  resultOf,
  targetOf,
} from "../../restore/lost/made-result.js";
import { invocation, renderPlan, terminalOf, wide } from "./pages.js";

const rendered = (...documents: Parameters<typeof resultOf>[0]) => renderPlan(resultOf(documents), wide, invocation);

test("a plan shows each row with author and time, the old and the new text, and everything that stays unchanged", () => {
  expect(
    rendered(everything),
  ).toBe(`Run 20261119T020000123Z of job nightly, compared with the current documents at https://kb.example.com/v1.
14 rows lost, 10 of them with manual edits.
- text now · + text after the restore

"Manual.md" (${manual})
  To write:
    edit chunk at 12 ${idOf(12)}
      edited by ann on 2026-11-18 14:02 UTC
      the history of the job has the text before the edit
      its id is now ${idOf(112)}
      - Open the valve slowly.
      + Open the valve slowly, and never above 4.5 bar.
      keywords: none → valve, bar
    add chunk at 40 ${idOf(40)}
      added by ann on 2026-11-18 14:02 UTC
      created after the indexing
      it comes back at the end of the document
      it is disabled afterwards
      + Ask for Ms Ito.
      answer:
      + She knows.
    disable chunk at 21 ${idOf(21)}
      disabled by ann on 2026-11-18 14:02 UTC
      its id is now ${idOf(121)}
      Paragraph 21.
    edit chunk at 7 ${idOf(7)}
      you decided so
      its id is now ${idOf(107)}
      the chunk there is in error, and is repaired
      - Parent.
      + Parent, repaired.
      replace child chunk at 1 ${idOf(71)}
        made or edited by hand on 2026-11-18 14:02 UTC
        - Child.
        + Child by hand.
      add child chunk at 2 ${idOf(73)}
        made or edited by hand on 2026-11-18 14:02 UTC
        it comes back at the end of its chunk
        + Another child.
  Needs your decision:
    chunk at 91 ${idOf(91)}
      edited by ann on 2026-11-18 14:02 UTC
      The target does not have the text that the edit replaced.
      it can replace the text there
      - Changed by others.
      + Lost 91.
    child chunk at 92 ${idOf(92)}
      made or edited by hand on 2026-11-18 14:02 UTC
      Its parent chunk is not in the target.
      kbdump cannot restore it
      + Lost 92.
  Found inside a current chunk, so left alone:
    chunk at 90 ${idOf(90)}
      edited by ann on 2026-11-18 14:02 UTC
      Its text occurs inside a chunk of the target.
      it can be added at the end
      + Lost 90.
  Left alone:
    chunk at 93 ${idOf(93)}
      edited by ann on 2026-11-18 14:02 UTC
      A part of its text is blank.
      kbdump cannot restore it
      + Lost 93.
    chunk at 94 ${idOf(94)}
      You decided to leave it alone.
      it can be added at the end
      + Lost 94.
  Cannot be brought back:
    attachments of chunk at 12 ${idOf(12)}: one of them is gone
  also lost: 4 rows without evidence of a manual edit
  still there: 3 manual edits

plan: 6 rows to write: 2 chunks edited, 1 chunk added, 2 chunks disabled, 1 child chunk replaced, 1 child chunk added
7 write requests at the least, 117 characters to embed
2 rows need your decision
1 row found inside a current chunk
1 row cannot be restored
1 row left out, as you decided

Before you apply it:
  - Not restored: ids, positions of added chunks (they come last), hit counts, times, authors, and keywords that were emptied.
  - kbdump reads each chunk again right before it writes it, but the API has no conditional writes: an edit in that moment is overwritten. Choose a quiet time.
  - The next re-index loses all of it again. To keep a text for good, put it into the source document.

Write it:
  kbdump restore nightly@20261119 --apply

Decide on 1 row: write the plan as a list, say yes or no there, and pass it with --plan:
  kbdump restore nightly@20261119 --plan-out plan.yaml
or add them all at the end of their documents:
  kbdump restore nightly@20261119 --manual-edits`);
});

test("a refused document says why; one without a loss is not shown", () => {
  const printed = rendered(
    documentOf({ refused: "it is archived; take it out of the archive first" }),
    documentOf({ document_name: "Other.md", present: 4 }),
  );
  expect(printed).toContain(
    `"Manual.md" (${manual})\n  refused: it is archived; take it out of the archive first\n\nplan: 0 rows to write\n1 document refused`,
  );
  expect(printed).not.toContain("Other.md");
  expect(printed).not.toContain("--apply");
});

test("a plan against another run names it, and the command to write asks the service instead", () => {
  for (const against of [["--against", "nightly"], ["--against=nightly"]]) {
    const printed = renderPlan(resultOf([everything], { against: "output/nightly/runs/new" }), wide, {
      program: "kbdump",
      args: ["restore", "nightly@20261119", ...against, "--json"],
    });
    expect(printed).toContain("compared with output/nightly/runs/new.\n");
    expect(printed).toContain("\n  kbdump restore nightly@20261119 --apply\n");
    for (const decide of ["--plan-out plan.yaml", "--manual-edits"])
      expect(printed).toContain(`\n  kbdump restore nightly@20261119 ${against.join(" ")} ${decide}`);
  }
});

test("if the plan comes from a file, the file is named with its command; a decision starts without an earlier one", () => {
  const written = renderPlan(resultOf([everything], { plan_file: "my plan.yaml" }), wide, {
    program: "kbdump",
    args: ["restore", "nightly@20261119", "--plan-out", "my plan.yaml", "--manual-edits"],
  });
  expect(written).toContain(`
The plan is in my plan.yaml: say yes or no there, then write it:
  kbdump restore nightly@20261119 --plan "my plan.yaml" --apply`);
  expect(written).not.toContain("--plan-out");
  const planned = renderPlan(resultOf([everything]), wide, {
    program: "kbdump",
    args: ["restore", "nightly@20261119", "--plan=plan.yaml", "--json"],
  });
  expect(planned).toContain("\n  kbdump restore nightly@20261119 --plan=plan.yaml --apply\n");
  expect(planned).toContain("\n  kbdump restore nightly@20261119 --plan-out plan.yaml\n");
  expect(planned).toMatch(/\n {2}kbdump restore nightly@20261119 --manual-edits$/);
});

test("nothing to restore: nothing to show, to know or to do", () => {
  expect(rendered(documentOf({ present: 7 }))).toMatch(/^Run .*\n\nnothing to restore: all 7 manual edits are there$/);
  expect(rendered()).toMatch(
    /\n\nnothing to restore: there is no evidence that a person made or edited anything in this run$/,
  );
});

test("before a question, no command follows", () => {
  const printed = renderPlan(resultOf([everything]), wide);
  expect(printed).toContain("Before you apply it:");
  expect(printed).not.toContain("kbdump restore");
  expect(renderPlan(resultOf([documentOf({ refused: "it is archived" })]), wide)).not.toContain("Before you apply it:");
});

test("of many rows, the first of each kind are shown", () => {
  const restores = Array.from({ length: 57 }, (_, at) => restoreOf(at));
  const found = Array.from({ length: 129 }, (_, at) => listedOf(200 + at, { why: "found inside" }));
  const printed = rendered(documentOf({ restores, listed: [...found, listedOf(199)] }));
  expect(printed).toContain(`add chunk at 49 ${idOf(49)}`);
  expect(printed).not.toContain(idOf(50));
  expect(printed).toContain("    … and 7 others: --json lists all\n  Needs your decision:\n    chunk at 199");
  expect(printed).toContain("    … and 119 others: --json lists all\n");
  expect(printed).toContain("1 row needs your decision\n129 rows found inside a current chunk\n");
});

test("the history proves another thing of a chunk that was edited, added, or only disabled, and of a child chunk", () => {
  const child = { child_id: idOf(71), position: 1, edit: editOf("customized"), content: "Child by hand.", twin: null };
  const restores = [
    restoreOf(1, { evidence: ["history"], target: targetOf(101, "Before.") }),
    restoreOf(2, { evidence: ["history"], edit: editOf("added") }),
    restoreOf(3, { evidence: ["history"], target: targetOf(103, "Text."), texts: null, disable: true }),
    restoreOf(4, {
      evidence: [],
      target: targetOf(104, "Text."),
      texts: null,
      children: [{ ...child, evidence: ["history"] }],
    }),
    restoreOf(5, { evidence: ["history"] }), // an edit without a place, which is added
  ];
  const remarks = rendered(documentOf({ restores }))
    .split("\n")
    .filter((line) => line.includes("the history"));
  expect(remarks.map((line) => line.trim())).toEqual([
    "the history of the job has the text before the edit",
    "the history of the job shows when it was added",
    "the history of the job shows it enabled",
    "the history of the job has the text before the edit",
    "the history of the job has the text before the edit",
  ]);
});

test("of long texts, the part around the first difference is shown", () => {
  const same = "The valve is open. ".repeat(20);
  const target = targetOf(101, `${same}Close it.`);
  const texts = { content: `${same}${"Never close it. ".repeat(20)}`, answer: null, keywords: null };
  const printed = rendered(documentOf({ restores: [restoreOf(1, { target, texts }), restoreOf(2, { texts })] }));
  const [now = "", next = "", added = ""] = printed.split("\n").filter((line) => /^ {6}[-+] /.test(line));
  expect(now).toMatch(/^ {6}- ….{0,60}The valve is open. Close it\.$/);
  expect(next).toMatch(/^ {6}\+ ….{0,60}The valve is open. Never close it\. .*…$/);
  expect(added).toMatch(/^ {6}\+ The valve is open\. .*…$/);
  for (const line of [next, added]) expect(line.length).toBe("      + …".length + 160);
});

test("if a row can be restored after a decision, the commands for it are shown", () => {
  const isAsked = (more: Parameters<typeof listedOf>[1]) =>
    rendered(documentOf({ listed: [listedOf(1, more)] })).includes("--plan-out");
  expect(isAsked({})).toBe(true);
  expect(isAsked({ choice: "replace" })).toBe(true);
  expect(isAsked({ choice: null })).toBe(false);
  for (const why of ["found inside", "cannot be restored", "left out"] as const) expect(isAsked({ why })).toBe(false);
});

test("of many documents, the first hundred are shown", () => {
  const printed = rendered(
    ...Array.from({ length: 103 }, (_, at) => documentOf({ document_id: idOf(at), restores: [restoreOf(1)] })),
  );
  expect(printed).toContain(idOf(99));
  expect(printed).not.toContain(idOf(100));
  expect(printed).toContain("\n\n… and 3 more documents: --json lists all\n\nplan: 103 rows");
});

const nasty = "evil\x1b[2J\r\n\u202etext 从打开阀门开始，永远不要超过四点五巴 ".repeat(30);
const nastyDocument = documentOf({
  document_name: nasty,
  refused: nasty,
  restores: [
    restoreOf(12, { target: targetOf(112, nasty), texts: { content: `${nasty}.`, answer: nasty, keywords: [nasty] } }),
    ...everything.restores,
  ],
  listed: [listedOf(1, { reason: nasty, content: nasty, now: nasty }), ...everything.listed],
  losses: [{ level: "child_chunk", id: idOf(2), position: null, part: "summary", reason: nasty }],
});

test("text of the service moves no cursor, no line is wider than the terminal, and no id is cut", () => {
  for (const columns of [120, 80, 60, 59, 50, 49, 40]) {
    const lines = renderPlan(resultOf([nastyDocument]), terminalOf(columns)).split("\n");
    expect(lines.filter((line) => widthOf(line) > columns)).toEqual([]);
    for (const number of [12, 112, 71, 73, 91, 1, 2]) expect(lines.join("\n")).toContain(idOf(number));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours are ours, all else is not
    expect(lines.join("").replace(/\x1b\[\d+m/g, "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  }
});
