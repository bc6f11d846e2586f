import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import type { Manifest } from "../../src/dump/manifest.js";
import type { Format } from "../../src/job/job.js";
import { runJob } from "../../src/run/run-job.js";
import { type ServedDump, type ServeOptions, serveDump } from "../../src/serve/serve-dump.js";
import { jobFor, testFolder } from "../run/job-for.js";

/** Serves a run folder until the test ends. */
export async function served(folder: string, options?: ServeOptions): Promise<ServedDump> {
  const dump = await serveDump(folder, options);
  onTestFinished(() => dump.close());
  return dump;
}

/** Dumps the documents of a dump from a service, in the same order; returns the run folder and its manifest. */
export async function dumpAgain(
  { url, key }: ServedDump,
  folder: string,
  formats: readonly Format[],
  more: Readonly<Record<string, unknown>> = {},
): Promise<{ readonly folder: string; readonly manifest: Manifest }> {
  const { documents } = await manifestOf(folder);
  const ids = [...new Set(documents.map(({ dataset_id }) => dataset_id))];
  const datasets = ids.map((id) => ({
    id,
    documents: documents.flatMap(({ dataset_id, document_id }) => (dataset_id === id ? [document_id] : [])),
  }));
  const job = await jobFor(await testFolder(), {
    service: { base_url: url, retries: 0 },
    datasets,
    output: { formats },
    ...more,
  });
  return runJob(job, { env: { KNOWLEDGE_API_KEY: key } });
}

/** Expects the files of chunks, child chunks and metadata fields to be the same, byte for byte. */
export async function expectSame(one: string, other: string, formats: readonly string[]): Promise<void> {
  for (const format of formats) {
    for (const kind of ["chunks", "child_chunks", "metadata_fields"]) {
      const [before, after] = await Promise.all(
        [one, other].map((folder) => readFile(join(folder, `${kind}.${format}`))),
      );
      expect(after?.toString("utf8"), `${kind}.${format}`).toBe(before?.toString("utf8"));
    }
  }
}

export async function manifestOf(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, "manifest.json"), "utf8"));
}
