import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { sampleKnowledge } from "../../src/demo/sample/sample-knowledge.js";
import { startService } from "../../src/demo/start-service.js";
import { testFolder } from "../run/job-for.js";

const [datasetId, documentId] = ["be707760-4d1d-4f33-b3ad-f9bace31e975", "72eeb179-b9ed-4b5c-8fc0-ef7a606536c0"];
const edited = "ccad34a6-dae3-48d0-879a-89340a264176";

/** The sample service, whose document a person has worked on, and what guards it. */
export async function guarded() {
  const folder = await testFolder();
  const clock = () => new Date();
  const demo = sampleKnowledge(clock);
  const service = await startService({ demo, clock });
  onTestFinished(() => service.close());
  const segments = `${service.url}/datasets/${datasetId}/documents/${documentId}/segments`;
  const write = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${service.key}`, "content-type": "application/json" };
    const answer = await fetch(`${segments}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    expect(answer.status).toBe(200);
  };
  await write(`/${edited}`, { segment: { content: "Edited by a person." } });
  await write("", { segments: [{ content: "Added by a person." }] });
  const flags = ["--base-url", service.url, "--dataset", datasetId, "--name", "kb", "--interval", "0.1"];
  const env = { KNOWLEDGE_API_KEY: service.key, KNOWLEDGE_RESTORE_KEY: service.key };
  return {
    contents: () => demo.store.read(documentId).chunks.map(({ row }) => row.content),
    reindex: () => demo.store.reindex(documentId, { seconds: 0.3 }),
    command: ["guard", ...flags, "--document", documentId, "--out", join(folder, "out")],
    env,
    runs: join(folder, "out", "kb-guard", "runs"),
  };
}
