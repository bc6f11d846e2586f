import { expect, test } from "vitest";
import { UsageError } from "../../../src/errors.js";
import { copyRun } from "../../../src/restore/copy/copy-run.js";
import { inFull } from "../../rounds.js";
import { backUp, key } from "./back-up.js";
import { copying } from "./copying.js";
import type { DrawnDocument, Scenario } from "./random/scenario.js";

const document: DrawnDocument = {
  ...{ name: "one.txt", form: "text_model", state: "available", value: null },
  chunks: [{ content: "One.", answer: "", keywords: [], isEnabled: true, children: null }],
};
const drawn: Scenario = {
  ...{ technique: "economy", tags: [], cap: 0, fates: [], breaks: [], frozenAt: null, planted: null, unindexed: 0 },
  documents: [document],
};

test("a run without documents is refused by name", async () => {
  const { wire, folder } = await backUp({ ...drawn, documents: [] });
  const refused = copyRun(copying(folder, { url: wire.url, key }));
  await expect(refused).rejects.toThrow(UsageError);
  await expect(refused).rejects.toThrow("has no documents: nothing to restore");
});

test.runIf(inFull)("a setting that a user changed in a restored dataset is a difference, not a loss", async () => {
  const { target, wire, folder } = await backUp(drawn);
  const options = copying(folder, { url: wire.url, key });
  const [copy] = (await copyRun(options)).applied?.documents ?? [];
  await fetch(`${target.url}/datasets/${copy?.target_dataset_id}`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ description: "changed" }),
  });
  const again = await copyRun(options);
  expect(again.plan.datasets.flatMap(({ losses }) => losses)).toEqual([]);
  expect(again).toMatchObject({
    status: "different",
    differences: [{ level: "dataset", reason: 'its description is "changed" at the service, and "copied" in the run' }],
  });
});

test("--dataset new plans and makes another copy, whatever the journal has", async () => {
  const { wire, folder } = await backUp(drawn);
  const options = { ...copying(folder, { url: wire.url, key }), dataset: "new" };
  const first = await copyRun(options);
  const planned = await copyRun({ ...options, apply: false });
  expect(planned.plan.datasets).toMatchObject([{ target: { kind: "new" }, documents: [{ earlier: null }] }]);
  const second = await copyRun(options);
  expect([first.status, second.status]).toEqual(["proved", "proved"]);
  const ids = [first, second].map(({ applied }) => applied?.documents[0]?.target_dataset_id);
  expect(new Set(ids).size).toBe(2);
});
