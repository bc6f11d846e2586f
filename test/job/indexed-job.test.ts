import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { shardOf } from "../../src/crawl/shards.js";
import { exitCodes } from "../../src/errors.js";
import { loadJob } from "../../src/job/load-job.js";
import { runHere } from "../cli/run-here.js";
import { inFull } from "../rounds.js";
import { jobFile, testFolder } from "../run/job-for.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, Store } from "../servers/store.js";
import { expectMounted, manifestsOf } from "./kubernetes.js";

test("the pods find their job, key and shared volume, and there are as many as shards", async () => {
  const { ConfigMap, PersistentVolumeClaim, ...jobs } = await manifestsOf("indexed-job.yaml");
  expect(Object.keys(jobs)).toEqual(["kbdump-shards", "kbdump-join"]);
  const { spec } = jobs["kbdump-shards"];
  const [container] = spec.template.spec.containers;
  const folder = await testFolder();
  await writeFile(join(folder, "nightly.yaml"), ConfigMap.data["nightly.yaml"]);
  const job = await loadJob({ file: join(folder, "nightly.yaml") }, {}, {});
  expectMounted(
    spec.template.spec,
    [container.args[1], job.service.apiKeyFile ?? "", job.output.dir],
    PersistentVolumeClaim.metadata.name,
  );
  expect(PersistentVolumeClaim.spec.accessModes).toEqual(["ReadWriteMany"]);
  const count = Number(container.args[container.args.indexOf("--shard") + 1].split("/")[1]);
  expect([spec.completionMode, spec.completions, spec.parallelism]).toEqual(["Indexed", count, count]);
  const joining = jobs["kbdump-join"].spec;
  expect([joining.suspend, joining.template.spec.containers[0].args.slice(0, 2)]).toEqual([true, ["join", job.name]]);
  for (const each of [spec, joining]) {
    expect(each.template.spec.restartPolicy).toBe("Never"); // podFailurePolicy requires this
    expect(each.template.spec.containers[0].image).toBe(container.image);
  }
  const rules = spec.podFailurePolicy.rules.map((rule: { action: string; onExitCodes: { values: number[] } }) => [
    rule.action,
    rule.onExitCodes.values,
  ]);
  expect(rules).toEqual([
    ["FailJob", [exitCodes.usage]],
    ["FailIndex", [exitCodes.partial]],
  ]);
});

test.runIf(inFull)(
  "a pod reads the documents of the shard after its index, and each line that it prints is JSON",
  async () => {
    const { "kbdump-shards": shards } = await manifestsOf("indexed-job.yaml");
    const { completions, template } = shards.spec;
    const [command, , ...flags] = template.spec.containers[0].args;
    const store = new Store();
    const documents = [1, 2, 3].map((seed) => makeDocument({ chunks: 1, seed }));
    const dataset = store.addDataset(...documents);
    const server = await startRealisticServer(store);
    onTestFinished(() => server.close());
    const folder = await testFolder();
    const file = await jobFile(folder, {
      service: { base_url: server.url, retries: 0 },
      datasets: [{ id: dataset.id, documents: "all" }],
      output: { dir: join(folder, "out"), formats: ["duckdb"] },
    });
    let read = 0;
    for (const index of new Set(documents.map(({ id }) => shardOf(dataset.id, id, completions) - 1))) {
      const env = { KNOWLEDGE_API_KEY: server.key, JOB_COMPLETION_INDEX: String(index) };
      const { code, stdout, stderr } = await runHere([command, file, ...flags], env);
      expect(code, stderr).toBe(0);
      const lines = (stderr + stdout).trimEnd().split("\n");
      for (const line of lines) expect(JSON.parse(line), line).toBeTypeOf("object");
      read += JSON.parse(lines.at(-1) ?? "").counts.documents;
    }
    expect(read).toBe(documents.length);
  },
);
