import { expect, test } from "vitest";
import { widthOf } from "../../../src/cli/display-width.js";
import type { DatasetPlan } from "../../../src/restore/copy/copy-plan.js";
import {
  copyOf,
  datasetPlanOf,
  documentPlanOf,
  earlierOf,
  everyDataset,
  handbook,
  lossOf,
} from "../../restore/copy/made-copy.js";
import { idOf } from "../../restore/lost/made-result.js";
import { terminalOf, wide } from "../restore/pages.js";
import { commandWith, invocation, nasty, renderCopyPlan } from "./pages.js";

const rendered = (datasets: readonly DatasetPlan[]) => renderCopyPlan(copyOf(datasets), wide, invocation);

test("a plan shows each dataset with its documents and losses, unchanged documents, its cost, and documents it cannot copy", () => {
  expect(
    rendered([everyDataset]),
  ).toBe(`Run 20261119T020000123Z of job nightly, to restore to https://new.example.com/v1.

"Handbook" (${handbook})
  → a new dataset, "Handbook (2)", as the name is taken there
  settings: high_quality, embeddings by text-embedding-3-small of openai, only_me
  metadata fields: author (string), year (number), the built-in ones
  tags: manuals, internal
  document       form                chunks  children  disabled  characters
  "Manual 1.md"  text_model           1,234         0         3     900,123
  "Manual 2.md"  hierarchical_model      12     4,000         0       3,456
  "Manual 3.md"  qa_model                12         0         0       3,456
  "Manual 4.md"  text_model              12         0         0       3,456  begun earlier
  "Manual 8.md"  text_model              12         0         0       3,456
  "Manual 5.md"  text_model              12         0         0       3,456  there already
  Not copied:
  - settings: the permission is only_me, as its members are not there
  - summaries of 5 chunks (2 documents): no request writes them
  - source ("Manual 8.md"): it was a web page

Left out:
  "Manual 7.md" (${idOf(7)})
    its dump is partial: read it again first

plan: 5 documents into 1 new dataset: 1,282 chunks, 4,000 child chunks
86 write requests or more; 913,947 characters to embed, which costs tokens
child chunks: the service makes its own; each one that is wrong or missing costs one more write request
1 qa_model document: each stub costs one language model call
documents that are not written: 1 there already, 1 left out

Before you apply it:
  - Never copied: ids, gaps between positions, hit counts, times, authors, and the sources that documents were synchronised with. The service computes all embeddings again.
  - Links in the texts to files of the old service still lead there.
  - Do not index a restored document again: that leaves only the text of the stub that it was made from.

Write it:
${commandWith("--apply")}`);
});

test("continues a document that was begun earlier, shows the id of one without a name, and may end one disabled and archived", () => {
  const ending = documentPlanOf(9, { enabled: false, archived: true, document_name: idOf(9) });
  const printed = rendered([datasetPlanOf([documentPlanOf(6, { earlier: earlierOf("begun") }), ending])]);
  expect(printed).toMatch(/"Manual 6.md" .* 3,456 {2}begun earlier\n/);
  expect(printed).toMatch(new RegExp(`\n {2}${idOf(9)} .* ends disabled; ends archived\n`));
  expect(printed).toContain("\nplan: 2 documents into 1 new dataset: 24 chunks, 0 child chunks\n");
  expect(printed).not.toMatch(/child chunks: /);
});

test.each<[Partial<DatasetPlan>, string]>([
  [{}, "  → a new dataset of the same name\n"],
  [
    { dataset_name: "N".repeat(41), target: { kind: "new", name: "N".repeat(40) } },
    `  → a new dataset, "${"N".repeat(40)}", as the name is longer than 40 characters\n`,
  ],
  [
    { target: { kind: "there", id: idOf(3), name: "Other" } },
    `  → the dataset "Other" (${idOf(3)})\n  settings: they stay as they are\n`,
  ],
])("a dataset that becomes %j", (more, text) => {
  expect(rendered([datasetPlanOf([documentPlanOf(1)], more)])).toContain(text);
});

test("a dataset of another form says why it is there", () => {
  const ofQuestions = (name: string) => {
    const key = `${handbook}/qa_model`;
    const document = documentPlanOf(2, { doc_form: "qa_model", dataset_key: key });
    return datasetPlanOf([document], { key, target: { kind: "new", name } });
  };
  const both = rendered([datasetPlanOf([documentPlanOf(1)]), ofQuestions("Handbook (qa_model)")]);
  expect(both).toContain("  → a new dataset of the same name\n");
  expect(both).toContain('  → a new dataset, "Handbook (qa_model)", as the service needs one for each form\n');
  expect(rendered([ofQuestions("Handbook (qa_model) (2)")])).toContain(
    '  → a new dataset, "Handbook (qa_model) (2)", as the name is taken there\n',
  );
});

test("if everything exists, nothing is left to do, and it can be proved once more", () => {
  const documents = [documentPlanOf(1, { earlier: earlierOf("restored") })];
  const printed = rendered([datasetPlanOf(documents)]);
  expect(printed).toMatch(
    /\n\nplan: nothing to write\ndocuments that are not written: 1 there already\n\nCheck again what is there:\n.* --apply$/,
  );
});

test("if nothing can be copied and nothing exists, it suggests no command", () => {
  const printed = rendered([datasetPlanOf([documentPlanOf(1, { refused: "its dump is partial" })])]);
  expect(printed).toContain("\n  → no dataset is made, because none of its documents is copied\n\nLeft out:\n");
  expect(printed).toMatch(/\nplan: nothing to write\ndocuments that are not written: 1 left out$/);
});

test("before a question, no command follows", () => {
  const printed = renderCopyPlan(copyOf([everyDataset]), wide);
  expect(printed).toMatch(/the stub that it was made from\.$/);
});

test("of 5,000 documents, the first twenty are shown, and a loss that they share once", () => {
  const many = (count: number, more: Parameters<typeof documentPlanOf>[1] = {}) =>
    Array.from({ length: count }, (_, at) => documentPlanOf(at + 100, more));
  const losses = [lossOf("summaries", 2, "no request writes them")];
  const documents = [
    ...many(5_000, { losses }),
    ...many(30, { earlier: earlierOf("restored") }),
    ...many(25, { refused: "no" }).map((each, at) => ({ ...each, document_id: idOf(at) })),
  ];
  const printed = rendered([datasetPlanOf(documents)]);
  expect(printed.match(/^ {2}"Manual/gm)).toHaveLength(40);
  expect(printed).toContain("\n  … and 5,010 others: --json lists all\n");
  expect(printed).toContain("\n  - summaries of 10,000 chunks (5,000 documents): no request writes them\n");
  expect(printed).toContain("\n  … and 5 others: --json lists all\n");
  expect(printed.split("\n").length).toBeLessThan(110);
});

test("of many datasets and many losses, the first twenty are shown", () => {
  const losses = Array.from({ length: 23 }, (_, at) => lossOf("metadata", 1, `no field ${at}`));
  const datasets = Array.from({ length: 25 }, (_, at) => datasetPlanOf([documentPlanOf(at, { losses })]));
  const printed = rendered(datasets);
  expect(printed.match(/of the same name/g)).toHaveLength(20);
  expect(printed).toContain("\n\n… and 5 more datasets: --json lists all\n\nplan: 25 documents");
  expect(printed).toContain('  - 1 metadata value ("Manual 0.md"): no field 19\n  … and 3 others: --json lists all\n');
});

test("text of the service moves no cursor, no line but a command is wider than the terminal, and no id is cut", () => {
  const bad = documentPlanOf(1, { document_name: nasty, doc_form: nasty, losses: [lossOf("source", 1, nasty)] });
  const refused = documentPlanOf(2, { document_name: nasty, refused: nasty });
  const failed = documentPlanOf(3, { document_name: nasty, earlier: earlierOf("begun") });
  const dataset = datasetPlanOf([bad, refused, failed, documentPlanOf(4, { document_name: "" })], {
    dataset_name: nasty,
    target: { kind: "there", id: idOf(5), name: nasty },
    settings: { ...everyDataset.settings, permission: nasty, embedding_model: nasty },
    fields: [{ name: nasty, type: nasty }],
    tags: [nasty],
    losses: [lossOf("settings", 1, nasty)],
  });
  const datasets = [dataset, { ...dataset, target: { kind: "new", name: nasty } as const }, everyDataset];
  for (const columns of [120, 59, 40]) {
    const lines = renderCopyPlan(copyOf(datasets), terminalOf(columns), invocation).split("\n");
    expect(lines.filter((line) => widthOf(line) > columns && !line.startsWith("  kbdump "))).toEqual([]);
    for (const number of [2, 5, 7]) expect(lines.join("\n")).toContain(idOf(number));
    expect(lines.join("\n")).toContain(handbook);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours are ours, all else is not
    expect(lines.join("").replace(/\x1b\[\d+m/g, "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  }
});
