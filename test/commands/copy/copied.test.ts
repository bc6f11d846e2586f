import { expect, test } from "vitest";
import { widthOf } from "../../../src/cli/display-width.js";
import type { CopyResult } from "../../../src/restore/copy/copy-result.js";
import {
  appliedOf,
  copiedOf,
  copyOf,
  datasetPlanOf,
  differenceOf,
  documentPlanOf,
  earlierOf,
  everyDataset,
  folder,
  handbook,
} from "../../restore/copy/made-copy.js";
import { idOf } from "../../restore/lost/made-result.js";
import { terminalOf, wide } from "../restore/pages.js";
import { commandWith, invocation, nasty, renderCopied } from "./pages.js";

const rendered = (result: CopyResult, args = invocation.args) => renderCopied(result, wide, { ...invocation, args });
const two = [datasetPlanOf([documentPlanOf(1), documentPlanOf(2)])];
const places = `  ${folder}.restore/to/new.example.com/after/runs/20261120T020000123Z/  the proof: the documents as they are now
  ${folder}.restore/to/new.example.com/journal.jsonl                    every request and its answer`;
const compare = `Compare the run with the service at any time:
  kbdump verify ${folder} --against https://new.example.com/v1`;

test("restored and proved: how many, in which dataset, and the path of the proof", () => {
  const result = copyOf(two, { applied: appliedOf([copiedOf(1), copiedOf(2)]), differences: [] });
  expect(rendered(result)).toBe(`restored: 2 of 2 documents; proved
7 write requests to https://new.example.com/v1

Dataset:
  "Handbook" (${idOf(600)})

${places}

${compare}`);
});

test("a dataset that became one for each form is listed with all of them", () => {
  const key = `${handbook}/qa_model`;
  const target = { kind: "new", name: "Handbook (qa_model)" } as const;
  const questions = datasetPlanOf([documentPlanOf(2, { doc_form: "qa_model", dataset_key: key })], { key, target });
  const documents = [copiedOf(1), copiedOf(2, { target_dataset_id: idOf(601) })];
  const result = copyOf([datasetPlanOf([documentPlanOf(1)]), questions], { applied: appliedOf(documents) });
  expect(rendered(result)).toContain(
    `\nDatasets:\n  "Handbook" (${idOf(600)})\n  "Handbook (qa_model)" (${idOf(601)})\n`,
  );
});

test("partial: lists each missing document with its reason and rows, and the command to continue", () => {
  const row = { level: "chunk", id: idOf(77), position: 7, reason: "the service answered 400" } as const;
  const documents = [
    ...[copiedOf(1), copiedOf(2), copiedOf(8)],
    copiedOf(3, { outcome: "partial", reason: "1 chunk was not copied", failed: [row] }),
    copiedOf(4, { outcome: "failed", reason: "it was not indexed", target_id: null, target_dataset_id: null }),
  ];
  const result = copyOf([everyDataset], {
    applied: appliedOf(documents, { problems: ["the tag internal could not be made: 403"] }),
    differences: [],
  });
  expect(rendered(result, [...invocation.args, "--apply", "--yes"])).toBe(
    `partial: 4 of 7 documents restored; proved: they are as in the run
7 write requests to https://new.example.com/v1, earlier ones included

Dataset:
  "Handbook (2)" (${idOf(600)})

Not made as planned:
  the tag internal could not be made: 403

Not restored:
  "Manual 7.md" (${idOf(7)})
    left out: its dump is partial: read it again first
  "Manual 3.md" (${idOf(3)})
    partial: 1 chunk was not copied
    chunk at 7 ${idOf(77)}
      the service answered 400
  "Manual 4.md" (${idOf(4)})
    failed: it was not indexed

${places}

Once the cause is gone, run this again; nothing is written twice:
${commandWith("--apply")}

${compare}`,
  );
});

test("the command to continue never starts another copy: it drops --dataset new and keeps a dataset id", () => {
  const result = copyOf(two, {
    applied: appliedOf([copiedOf(1), copiedOf(2, { outcome: "failed" })]),
    differences: [],
  });
  for (const dataset of [["--dataset", "new"], ["--dataset=new"]])
    expect(rendered(result, [...invocation.args, ...dataset, "--json"])).toContain(`\n${commandWith("--apply")}\n`);
  for (const dataset of [["--dataset", idOf(3)], [`--dataset=${idOf(3)}`]])
    expect(rendered(result, [...invocation.args, ...dataset])).toContain(
      `\n${commandWith(`${dataset.join(" ")} --apply`)}\n`,
    );
});

test("different: each finding with its place, of a row, a document or a dataset", () => {
  const differences = [
    differenceOf(9, { position: null, level: "child_chunk" }),
    differenceOf(1, { level: "document", reason: "its name is another one" }),
    differenceOf(3, { level: "dataset", document_id: null, id: handbook, reason: "its description is another one" }),
  ];
  const result = copyOf(two, { applied: appliedOf([copiedOf(1), copiedOf(2)]), differences });
  const printed = rendered(result);
  expect(printed).toMatch(/^different: 2 of 2 documents restored, but the proof found 3 differences\n/);
  expect(printed).toContain(`
Found by the proof:
  "Manual 1.md" (${idOf(1)})
    child chunk ${idOf(9)}
      is missing
    its name is another one
  "Handbook" (${handbook})
    its description is another one

`);
  expect(printed).toContain("delete its copy at the service, then run:\n  kbdump copy ");
});

test("a document that an earlier process restored counts, unless this one says otherwise", () => {
  const earlier = earlierOf("restored");
  const datasets = [datasetPlanOf([documentPlanOf(1, { earlier }), documentPlanOf(2, { earlier }), documentPlanOf(3)])];
  const applied = appliedOf([copiedOf(2, { outcome: "failed", reason: "it is gone" }), copiedOf(3)]);
  expect(rendered(copyOf(datasets, { applied, differences: [] }))).toMatch(/^partial: 2 of 3 documents restored; /);
});

test("without a proof, it does not say proved, and the same command continues", () => {
  const printed = rendered(copyOf(two, { applied: appliedOf([copiedOf(1), copiedOf(2)]) }));
  expect(printed).toMatch(/^partial: 2 of 2 documents restored; not proved\n/);
  expect(printed).toContain(
    `\nOnce the cause is gone, run this again; nothing is written twice:\n${commandWith("--apply")}\n`,
  );
});

test("if only a tag, a field or a setting could not be created, the same command tries it again", () => {
  const applied = appliedOf([copiedOf(1), copiedOf(2)], { problems: ["the tag internal could not be made: 403"] });
  expect(rendered(copyOf(two, { applied, differences: [] }))).toContain(
    `\nOnce the cause is gone, run this again; nothing is written twice:\n${commandWith("--apply")}\n`,
  );
});

test("the dataset is named by the first document that came into it; a document without a name by its id", () => {
  const gone = { outcome: "failed", reason: "500", target_id: null, target_dataset_id: null } as const;
  const datasets = [datasetPlanOf([documentPlanOf(1, { document_name: idOf(1) }), documentPlanOf(2)])];
  const printed = rendered(copyOf(datasets, { applied: appliedOf([copiedOf(1, gone), copiedOf(2)]), differences: [] }));
  expect(printed).toContain(`\nDataset:\n  "Handbook" (${idOf(600)})\n`);
  expect(printed).toContain(`\nNot restored:\n  ${idOf(1)}\n    failed: 500\n`);
});

test("nothing restored: there is no dataset to look at, and nothing to compare", () => {
  const documents = [copiedOf(1, { outcome: "failed", reason: null, target_dataset_id: null, target_id: null })];
  const printed = rendered(copyOf([datasetPlanOf([documentPlanOf(1)])], { applied: appliedOf(documents) }));
  expect(printed).toContain("    failed: no reason is known\n");
  expect(printed).not.toMatch(/Dataset|verify/);
});

test("without any writes, it is the plan", () => {
  expect(rendered(copyOf(two))).toMatch(/\nplan: 2 documents into 1 new dataset: .*\n/);
});

test("of many, the first twenty are shown", () => {
  const many = <T>(count: number, make: (at: number) => T) => Array.from({ length: count }, (_, at) => make(at));
  const datasets = many(24, (at) =>
    datasetPlanOf([documentPlanOf(at)], { target: { kind: "there", id: idOf(at + 700), name: `Dataset ${at}` } }),
  );
  const documents = many(24, (at) => copiedOf(at, { outcome: "failed", reason: "500" }));
  const problems = many(26, (at) => `no tag ${at}`);
  const differences = many(27, (at) => differenceOf(at));
  const printed = rendered(copyOf(datasets, { applied: appliedOf(documents, { problems }), differences }));
  expect(printed).toContain(`  "Dataset 19" (${idOf(719)})\n  … and 4 others: --json lists all\n`);
  expect(printed).toContain("  no tag 19\n  … and 6 others: --json lists all\n");
  expect(printed).toContain(`(${idOf(19)})\n    failed: 500\n  … and 4 others: --json lists all\n`);
  expect(printed).toContain(`    chunk at 19 ${idOf(19)}\n      is missing\n    … and 7 others: --json lists all\n`);
});

test("text of the service moves no cursor, and no line is wider than the terminal", () => {
  const failed = [{ level: "chunk", id: idOf(3), position: 3, reason: nasty }] as const;
  const documents = [copiedOf(1, { outcome: "partial", reason: nasty, failed }), copiedOf(2)];
  const datasets = [
    datasetPlanOf([documentPlanOf(1, { document_name: nasty }), documentPlanOf(2, { refused: nasty })], {
      dataset_name: nasty,
      target: { kind: "new", name: nasty },
    }),
  ];
  const result = copyOf(datasets, {
    applied: appliedOf(documents, { problems: [nasty] }),
    differences: [differenceOf(1, { reason: nasty })],
    run: { folder: "run", job: "nightly", run_id: "20261119T020000123Z" },
    base_url: "https://a.example.com/v1",
    proof: "proof",
    journal: "journal",
  });
  for (const columns of [80, 40]) {
    const lines = renderCopied(result, terminalOf(columns), invocation).split("\n");
    expect(lines.filter((line) => widthOf(line) > columns && !line.startsWith("  kbdump "))).toEqual([]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours are ours, all else is not
    expect(lines.join("").replace(/\x1b\[\d+m/g, "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  }
});
