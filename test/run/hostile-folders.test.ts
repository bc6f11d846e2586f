import { mkdir, readdir, readFile, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runJob } from "../../src/run/run-job.js";
import { takeStatus } from "../../src/status/capture-status.js";
import { inFull } from "../rounds.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, makeStatusEntry, Store } from "../servers/store.js";
import { jobFor, testFolder } from "./job-for.js";

async function startPlace() {
  const store = new Store();
  const document = makeDocument({ chunks: 3 });
  const dataset = store.addDataset(document);
  dataset.batches.set("2025", [makeStatusEntry(document.id)]);
  const server = await startRealisticServer(store);
  onTestFinished(() => server.close());
  const folder = await testFolder();
  const [place, outside] = [join(folder, "out", "test"), join(folder, "outside")];
  for (const path of [place, outside]) await mkdir(path, { recursive: true });
  const output = { dir: join(folder, "out"), formats: ["jsonl", "duckdb"] };
  const job = await jobFor(folder, {
    service: { base_url: server.url },
    datasets: [{ id: dataset.id, documents: [document.id], batches: ["2025"] }],
    output,
  });
  const options = { env: { KNOWLEDGE_API_KEY: server.key } };
  return { place, outside, run: () => runJob(job, options), take: () => takeStatus(job, options) };
}

test.each(["runs", ".work"])("a link planted as %s is not followed out of the folder", async (name) => {
  const { place, outside, run } = await startPlace();
  await symlink(outside, join(place, name));
  await expect(run()).rejects.toThrow(/is a symbolic link, which is not followed; remove it$/);
  expect(await readdir(outside)).toEqual([]);
});

test("a link planted as the folder of marks does not lead to the removal of old files elsewhere", async () => {
  const { place, outside, run } = await startPlace();
  await writeFile(join(outside, "mine"), "mine");
  await utimes(join(outside, "mine"), new Date(0), new Date(0));
  await mkdir(join(place, ".work"));
  await symlink(outside, join(place, ".work", "fenced"));
  await expect(run()).rejects.toThrow(/fenced is a symbolic link, which is not followed; remove it$/);
  expect(await readdir(outside)).toEqual(["mine"]);
});

test("a planted link in place of the job folder is not followed, and kbdump status does not write through one", async () => {
  const { place, outside, run, take } = await startPlace();
  await rm(place, { recursive: true });
  await symlink(outside, place);
  await expect(run()).rejects.toThrow("is a symbolic link");
  await rm(place);
  await mkdir(join(place, ".work"), { recursive: true });
  await symlink(outside, join(place, ".work", "indexing_status"));
  await expect(take()).rejects.toThrow("is a symbolic link");
  expect(await readdir(outside)).toEqual([]);
});

test("a planted link in place of the database is neither read nor written through", async () => {
  const { place, outside, run } = await startPlace();
  await writeFile(join(outside, "mine"), "mine");
  await symlink(join(outside, "mine"), join(place, "test.duckdb"));
  await expect(run()).rejects.toThrow("is a symbolic link");
  expect(await readFile(join(outside, "mine"), "utf8")).toBe("mine");
});

test.runIf(inFull)("latest that points elsewhere is replaced, and its target is not touched", async () => {
  const { place, outside, run } = await startPlace();
  await symlink(outside, join(place, "latest"));
  const { manifest } = await run();
  expect(await readdir(join(place, "latest"))).toContain("manifest.json");
  expect(manifest.status).toBe("complete");
  expect(await readdir(outside)).toEqual([]);
});
