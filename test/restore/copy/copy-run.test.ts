import { expect, test } from "vitest";
import { copyRun } from "../../../src/restore/copy/copy-run.js";
import { emptyWriteProgress } from "../../../src/restore/result.js";
import { backUp, key } from "./back-up.js";
import { copying } from "./copying.js";

const knowledge = {
  ...{ technique: "economy", tags: [], cap: 0, fates: [], breaks: [], frozenAt: null, planted: null, unindexed: 0 },
  documents: [
    {
      ...{ name: "one.txt", form: "text_model", state: "available", value: null },
      chunks: [{ content: "One.", answer: "", keywords: [], isEnabled: true, children: null }],
    },
  ],
} as unknown as Parameters<typeof backUp>[0];

test("a copy goes through its steps in order, and nothing else writes to its progress", async () => {
  const { wire, folder } = await backUp(knowledge);
  const steps: unknown[] = [];
  const progress = new Proxy(emptyWriteProgress(), {
    set(of, name, value) {
      if (name === "step") steps.push(value);
      return Reflect.set(of, name, value);
    },
  });
  await copyRun(copying(folder, { url: wire.url, key }, { progress }));
  expect(Object.keys(progress).sort()).toEqual(Object.keys(emptyWriteProgress()).sort());
  const inOrder = steps.filter((step, at) => step !== steps[at - 1]);
  expect(inOrder).toEqual(["reading the run", "asking the service", "writing", "proving"]);
});
