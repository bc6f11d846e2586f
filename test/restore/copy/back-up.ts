import { onTestFinished } from "vitest";
import { startService } from "../../../src/demo/start-service.js";
import { runJob } from "../../../src/run/run-job.js";
import { jobFor, testFolder } from "../../run/job-for.js";
import { type Fate, openLossyWire } from "../../servers/lossy-wire.js";
import { writableKnowledge } from "../../servers/writable/writable-knowledge.js";
import { datasetId, storedDataset } from "./random/knowledge-base.js";
import type { Scenario } from "./random/scenario.js";

export const key = "restore-key";

/** A run of the drawn knowledge base, an empty service, and a proxy in front of the service that decides the fate of writes. */
export async function backUp(drawn: Scenario) {
  const clock = () => new Date();
  const source = await startService({ demo: writableKnowledge([storedDataset(drawn)], clock), key });
  const options = { indexingSeconds: 0, indexingTime: 0, maxPerRequest: drawn.cap };
  const target = await startService({ demo: writableKnowledge([], clock, options), key });
  const kinds: string[] = [];
  const decider = { url: "", decide: (): Fate => "pass" };
  const { url, close } = await openLossyWire(target.url, ({ method, path }) => {
    if (method === "GET") return "pass";
    kinds.push(`${method} ${kindOf(path)}`);
    return decider.decide();
  });
  decider.url = url;
  onTestFinished(async () => {
    await close();
    await target.close();
    await source.close();
  });
  const job = await jobFor(await testFolder(), {
    service: { base_url: source.url },
    datasets: [{ id: datasetId, documents: "all" }],
    details: true,
    output: { formats: ["jsonl"] },
  });
  const { folder } = await runJob(job, { env: { KNOWLEDGE_API_KEY: key } });
  return { target, wire: decider, folder, kinds };
}

/** The last path segment that is not an id. */
function kindOf(path: string): string {
  const words = path.split("/").filter((word) => /^[a-z_-]+$/.test(word));
  return words.at(-1) === "datasets" ? "/datasets" : (words.at(-1) ?? "");
}
