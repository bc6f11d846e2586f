import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { idsOf, refusing, startPlace, upload } from "../crawl/discover/discovering.js";
import { inFull } from "../rounds.js";
import { jobFile, testFolder } from "../run/job-for.js";
import { makeStatusEntry } from "../servers/store.js";
import { runHere } from "./run-here.js";

async function startCli(documents: readonly number[]) {
  const { server, datasets } = await startPlace(documents);
  const folder = await testFolder();
  const fileOf = (more: object) =>
    jobFile(folder, {
      service: { base_url: server.url, retries: 0 },
      output: { dir: join(folder, "out"), formats: ["jsonl"] },
      ...more,
    });
  const kbdump = (...args: string[]) => runHere(args, { KNOWLEDGE_API_KEY: server.key });
  return { server, datasets, folder, fileOf, kbdump };
}

test.runIf(inFull)(
  "the night after an upload: a line says so, --json says which, and nothing is a warning",
  async () => {
    const { datasets, fileOf, kbdump } = await startCli([2, 1]);
    const job = await fileOf({ datasets: "all" });
    const first = await kbdump("run", job);
    expect(first).toMatchObject({ code: 0, stderr: "" });
    expect(first.stdout).toMatch(/^complete: 3 documents, 3 chunks, 0 child chunks\nin .*\n\n/);

    const [dataset, other] = datasets;
    const added = upload(other);
    const [gone = ""] = idsOf(dataset);
    dataset?.documents.delete(gone);
    const second = await kbdump("run", job);
    expect(second).toMatchObject({ code: 0, stderr: "" });
    expect(second.stdout).toMatch(/\n1 new document, 1 document gone since \d{8}T\d{9}Z\n\n/);
    upload(dataset);
    const third = await kbdump("run", job, "--json", "--quiet");
    expect(JSON.parse(third.stdout)).toMatchObject({
      counts: { documents: 4, document_info: 4 },
      discovered: { new: [idsOf(dataset)[0]], vanished: [], datasets: [{ state: "listed", documents: 2 }, {}] },
    });
    expect(added).not.toBe("");
  },
);

test.runIf(inFull)("flags: --document all, --dataset all", async () => {
  const { server, datasets, folder, kbdump } = await startCli([2, 1]);
  const [dataset] = datasets;
  const flags = ["--base-url", server.url, "--format", "jsonl", "--out", join(folder, "out")];
  expect(await kbdump("run", ...flags, "--dataset", dataset?.id ?? "", "--document", "all")).toMatchObject({ code: 0 });
  expect(await kbdump("run", ...flags, "--dataset", "all")).toMatchObject({ code: 0 });
  for (const [name, documents] of [
    [dataset?.id ?? "", 2],
    ["all", 3],
  ] as const) {
    expect(await readdir(join(folder, "out"))).toContain(name);
    const manifest = JSON.parse(await readFile(join(folder, "out", name, "latest", "manifest.json"), "utf8"));
    expect(manifest.counts.documents).toBe(documents);
  }
  const none = await kbdump("run", ...flags, "--dataset", dataset?.id ?? "");
  expect(none.code).toBe(2);
  expect(none.stderr).toContain("--document: got nothing, expected at least one document or batch, or the word all");
});

test("a key that may not list datasets: exit 1, and what to do", async () => {
  const { server, fileOf, kbdump } = await startCli([1]);
  server.behaviour.faults = refusing("/datasets", 403, "forbidden", "No \u001b[31mpermission.");
  const { code, stdout, stderr } = await kbdump("run", await fileOf({ datasets: "all" }));
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(
    /^kbdump: the datasets cannot be listed: 403 forbidden No \[31mpermission; .*name the datasets by id in the job file \(GET http\S+\)\n$/,
  );
});

test("one dataset of two cannot be listed: exit 3, and it is named", async () => {
  const { server, datasets, fileOf, kbdump } = await startCli([1, 1]);
  const [first] = datasets;
  server.behaviour.faults = refusing(`/${first?.id}/documents`, 404, "not_found", "Dataset not found.");
  const { code, stdout, stderr } = await kbdump("run", await fileOf({ datasets: "all" }));
  expect(code).toBe(3);
  const sentence = `the documents of dataset "${first?.name}" (${first?.id}) cannot be listed: 404 `;
  expect(stdout).toMatch(/^partial: 1 of 1 document complete, 1 chunk/);
  expect(stdout).toContain(`  ${sentence}`);
  expect(stderr).toContain(`warning: ${sentence}`);
});

test("status uses the batches of a dataset of all documents, and requests nothing else", async () => {
  const { server, datasets, fileOf, kbdump } = await startCli([1]);
  const [dataset] = datasets;
  dataset?.batches.set("2025", [makeStatusEntry(idsOf(dataset)[0] ?? "")]);
  const job = await fileOf({ datasets: [{ id: dataset?.id, documents: "all", batches: ["2025"] }] });
  expect(await kbdump("status", job)).toMatchObject({ code: 0, stdout: expect.stringContaining("completed") });
  expect(server.requests.map(({ path }) => path)).toEqual([
    `/v1/datasets/${dataset?.id}/documents/2025/indexing-status`,
  ]);
  const { code, stderr } = await kbdump("status", await fileOf({ datasets: "all" }));
  expect({ code, said: stderr.includes("names no batch") }).toEqual({ code: 2, said: true });
});
