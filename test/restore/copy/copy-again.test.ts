import { expect, test } from "vitest";
import { UsageError } from "../../../src/errors.js";
import type { CopiedDocument } from "../../../src/restore/copy/copy-result.js";
import { copyRun } from "../../../src/restore/copy/copy-run.js";
import { inFull } from "../../rounds.js";
import { backUp, key } from "./back-up.js";
import { copying } from "./copying.js";
import type { DrawnDocument, Scenario } from "./random/scenario.js";

type Copy = Pick<CopiedDocument, "target_dataset_id" | "target_id">;
const noCopy: Copy = { target_dataset_id: null, target_id: null };

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

test.each([
  ["a document", ({ target_dataset_id, target_id }: Copy) => `${target_dataset_id}/documents/${target_id}`, 1],
  ["a dataset", ({ target_dataset_id }: Copy) => target_dataset_id, 2],
])("%s that someone deleted after it was copied is copied again", async (_what, pathOf, datasets) => {
  const { target, wire, folder } = await backUp(drawn);
  const options = copying(folder, { url: wire.url, key });
  const [copy = noCopy] = (await copyRun(options)).applied?.documents ?? [];
  const headers = { authorization: `Bearer ${key}` };
  const { status } = await fetch(`${target.url}/datasets/${pathOf(copy)}`, { method: "DELETE", headers });
  expect(status).toBe(204);
  const again = await copyRun(options);
  expect(again).toMatchObject({ status: "proved", applied: { documents: [{ outcome: "restored" }] } });
  const [made = noCopy] = again.applied?.documents ?? [];
  expect(made.target_id).not.toBe(copy.target_id);
  expect(new Set([copy.target_dataset_id, made.target_dataset_id]).size).toBe(datasets);
  const { plan } = await copyRun({ ...options, apply: false });
  expect(plan.datasets).toMatchObject([{ documents: [{ earlier: { target_id: made.target_id, state: "restored" } }] }]);
});
