import { readdir, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startService } from "../../src/demo/start-service.js";
import { runKbdump } from "../cli/run-kbdump.js";
import { testFolder } from "../run/job-for.js";
import { writableSample } from "../servers/writable/writable-knowledge.js";

const handbook = "Handbook of 2019.docx";

test("run with details and originals, verify, and a changed file", { timeout: 120_000 }, async () => {
  const folder = await testFolder();
  const service = await startService({ demo: writableSample(() => new Date()) });
  onTestFinished(() => service.close());
  const env = { KNOWLEDGE_API_KEY: service.key };
  const job = {
    name: "restorable",
    service: { base_url: service.url },
    datasets: "all",
    child_chunks: "none",
    consistency: "counts",
    details: true,
    originals: true,
    output: { formats: ["jsonl", "csv"] },
  };
  await writeFile(join(folder, "job.yaml"), JSON.stringify(job));
  const ran = await runKbdump(["run", "job.yaml", "--json", "--quiet"], env, folder);
  expect(ran).toMatchObject({ code: 0 });
  const result = JSON.parse(ran.stdout);
  expect(result).toMatchObject({
    status: "complete",
    counts: { datasets: 2, document_details: 13 },
    originals: { complete: 10, wrong_size: 1, missing: 2 },
    attachments: { complete: 216, wrong_size: 0, missing: 0 },
  });
  const kept = join(folder, result.folder);
  const { originals } = JSON.parse(await readFile(join(kept, "manifest.json"), "utf8"));
  const inFolders = originals.filter(({ path }: { path: string | null }) => path !== null);
  expect((await readdir(join(kept, "originals"))).sort()).toEqual(
    [...new Set(inFolders.map((each: { document_id: string }) => each.document_id))].sort(),
  );
  const sound = await runKbdump(["verify", "restorable"], {}, folder);
  expect(sound).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^sound: .*, 11 originals, 216 attachments$/m),
  });

  const { path } = originals.find(({ name }: { name: string }) => name === handbook);
  await truncate(join(kept, path), 10);
  const found = await runKbdump(["verify", "restorable", "--json"], {}, folder);
  expect(found.code).toBe(4);
  expect(JSON.parse(found.stdout)).toMatchObject({
    status: "differences",
    finding_count: 2,
    checked: { originals: 11, attachments: 216 },
    findings: [{ file: path, message: expect.stringMatching(/^has 10 bytes instead of \d+$/) }, { file: path }],
  });

  const again = await runKbdump(["run", "job.yaml"], env, folder);
  expect(again.stdout).toMatch(
    /^10 originals saved \([\d.]+ kB\), 1 of another size than the service says, 2 missing\n216 attachments saved \([\d.]+ MB\)$/m,
  );
  expect(again.stderr).not.toContain("sign=");
});
