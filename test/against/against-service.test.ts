import { expect, onTestFinished, test } from "vitest";
import { compareWithService } from "../../src/against/against-service.js";
import { Refusal } from "../../src/demo/knowledge.js";
import { startService } from "../../src/demo/start-service.js";
import { copyRun } from "../../src/restore/copy/copy-run.js";
import { documentId, uuid } from "../demo/small-knowledge.js";
import { copying } from "../restore/copy/copying.js";
import { inFull } from "../rounds.js";
import { writableKnowledge } from "../servers/writable/writable-knowledge.js";
import { dumped, sketches, treeOf } from "./compared-service.js";

async function emptyService() {
  const service = await startService({ demo: writableKnowledge([], () => new Date()) });
  onTestFinished(service.close);
  return service;
}

test.runIf(inFull)("a real restore compares as equal, and later changes are found", async () => {
  const form = { process_rule: null, document_process_rule: { mode: "automatic" }, doc_language: "English" };
  const run = await dumped(treeOf(sketches, { ...form, doc_metadata: [] }));
  const service = await emptyService();
  const copied = await copyRun(copying(run, service));
  expect([copied.status, copied.differences]).toEqual(["proved", []]);
  const compare = async () => {
    const progress = { step: "", expected: 0, done: 0, dump: undefined };
    const against = await compareWithService({ ...copying(run, service), progress });
    expect(progress).toMatchObject({ step: "comparing", expected: 1, done: 1 }); // documents, not the bytes that are hashed
    return against;
  };
  expect(await compare()).toEqual({
    ...{ base_url: service.url, copies: true, documents: 1, chunks: 3, child_chunks: 2 },
    ...{ differences: [], notes: [] },
  });
  const [copy] = copied.applied?.documents ?? [];
  const place = `${service.url}/datasets/${copy?.target_dataset_id}/documents/${copy?.target_id}/segments`;
  const headers = { authorization: `Bearer ${service.key}`, "content-type": "application/json" };
  const [, second] = JSON.parse(await (await fetch(place, { headers })).text()).data;
  await fetch(`${place}/${second.id}`, { method: "DELETE", headers });
  const { differences } = await compare();
  expect(differences).toEqual([
    { level: "chunk", document_id: documentId, id: uuid(102), position: 2, reason: "it is not in the copy" },
  ]);
});

test.runIf(inFull)("rows that the service refuses do not count as existing rows", async () => {
  const blank = { content: " ", enabled: true, keywords: [], answer: null, childContents: ["orphan"] };
  const run = await dumped(treeOf([...sketches, blank], { doc_metadata: [] }));
  const service = await emptyService();
  await copyRun(copying(run, service));
  const progress = { step: "", expected: 0, done: 0, dump: undefined };
  expect(await compareWithService({ ...copying(run, service), progress })).toMatchObject({
    ...{ chunks: 3, child_chunks: 2, differences: [] },
    notes: ["1 chunk and 1 child chunk of the run: not compared, because the service accepts no blank ones"],
  });
});

test.runIf(inFull)("settings that the service does not show are counted, and its texts are compared", async () => {
  const run = await dumped();
  const demo = writableKnowledge(treeOf(), () => new Date());
  const refuse = () => {
    throw new Refusal(403, "forbidden", "No.");
  };
  const service = await startService({
    demo: { ...demo, reads: { ...demo.reads, dataset: refuse, document: refuse } },
  });
  onTestFinished(service.close);
  const progress = { step: "", expected: 0, done: 0, dump: undefined };
  expect(await compareWithService({ ...copying(run, service), progress })).toMatchObject({
    ...{ documents: 1, chunks: 3, differences: [] },
    notes: ["settings and metadata of 1 document and 1 dataset were not compared: the service did not return them"],
  });
});
