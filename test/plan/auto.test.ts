import { expect, test } from "vitest";
import { makeDocument } from "../servers/store.js";
import { startPlace } from "./planning.js";

test.each([
  ["text without children", { docForm: "text_model" }],
  ["questions and answers", { docForm: "qa_model" }],
  ["text with children", { docForm: "text_model", childrenPerChunk: 2 }],
  ["paragraphs", { docForm: "hierarchical_model", childrenPerChunk: (at: number) => at % 4 }],
  [
    "paragraphs with a long list",
    { docForm: "hierarchical_model", childrenPerChunk: (at: number) => (at === 40 ? 230 : 1) },
  ],
  ["parents without their children", { docForm: "hierarchical_model", childrenPerChunk: 3, embedChildren: false }],
  ["another form", { docForm: "new_model", childrenPerChunk: 1 }],
])("what child_chunks: auto will send: %s", async (_name, shape) => {
  const { plan, run } = await startPlace([makeDocument({ chunks: 130, ...shape })]);
  const { requests, certainty } = await plan();
  const { manifest } = await run({ job: { child_chunks: "auto" } });
  expect(requests.auto).toBe(manifest.requests.sent);
  expect(requests.auto).toBeLessThanOrEqual(requests.all);
  if (requests.auto < requests.all) expect(certainty.auto).toMatchObject({ exact: false });
  expect(certainty.auto.at_least).toBeLessThanOrEqual(manifest.requests.sent);
});

test.each([
  ["only the second half", (at: number) => Number(at > 65)],
  ["all but the first of seven", (at: number) => Number(at % 7 > 0)],
  ["only the first", (at: number) => Number(at === 0)],
])(
  "with a small budget, it is known that less may be enough where chunks embed children: %s",
  async (_name, childrenPerChunk) => {
    const { plan, run } = await startPlace([
      makeDocument({ chunks: 130, docForm: "hierarchical_model", childrenPerChunk }),
    ]);
    const { certainty } = await plan({ options: { budget: 0 } });
    const { manifest } = await run({ job: { child_chunks: "auto" } });
    expect(certainty.auto.exact).toBe(false);
    expect(certainty.auto.at_least).toBeLessThanOrEqual(manifest.requests.sent);
  },
);
