import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { loadJob } from "../../src/job/load-job.js";
import { runJob } from "../../src/run/run-job.js";
import { type RealisticServer, startRealisticServer } from "../servers/realistic-server.js";
import { exampleKnowledge, ids, reindexManual } from "./knowledge.js";
import { installPrograms } from "./programs.js";

/** The address in the documentation; tests replace it by the test server. */
export const exampleUrl = "https://kb.example.com/v1";

/** The job file for pages that show none. */
const usualJob = (url: string, output: string) => `service: { base_url: ${url} }
datasets:
  - { id: ${ids.dataset}, documents: all, batches: ["${ids.batch}"] }
output: { formats: ${output}, keep: { last: 14 } }
`;

/** A folder like a user's, and the server behind it. */
export interface ExamplePlaces {
  readonly server: RealisticServer;
  /** Copies the folder for one page; returns the path of the copy. */
  readonly open: () => Promise<string>;
  readonly close: () => Promise<void>;
}

/**
 * Makes the folder for the examples once; each page gets a copy. It contains a job with two runs in every format and a
 * re-index between them, a job with compressed files, the job files of the package, and the files of a checkout.
 */
export async function openExamplePlaces(): Promise<ExamplePlaces> {
  const knowledge = exampleKnowledge();
  const server = await startRealisticServer(knowledge.store);
  const base = await mkdtemp(join(tmpdir(), "kbdump-docs-"));
  const template = join(base, "template");
  await mkdir(template);
  await writeFile(join(template, "nightly.yaml"), usualJob(server.url, "[jsonl, csv, parquet, duckdb]"));
  await writeFile(join(template, "packed.yaml"), usualJob(server.url, "[jsonl], compress: gzip"));
  await writeFile(join(template, "job.yaml"), usualJob(server.url, "[jsonl]"));
  for (const name of ["nightly.env", "api_key"]) await writeFile(join(template, name), "");
  await cp("jobs", join(template, "jobs"), { recursive: true });
  await mkdir(join(template, "textfile"));
  const load = (name: string) => loadJob({ file: join(template, name) }, { out: join(template, "output") }, {});
  const nightly = await load("nightly.yaml");
  const env = { KNOWLEDGE_API_KEY: server.key };
  await runJob(nightly, { env });
  reindexManual(knowledge);
  await runJob(nightly, { env });
  await runJob(await load("packed.yaml"), { env });
  let opened = 0;
  const open = async () => {
    const folder = join(base, `place-${++opened}`);
    await cp(template, folder, { recursive: true, verbatimSymlinks: true });
    await installPrograms(folder);
    await symlink(resolve("dist"), join(folder, "dist"));
    await mkdir(join(folder, "node_modules"));
    await symlink(resolve("."), join(folder, "node_modules", "kbdump"));
    return folder;
  };
  const close = async () => {
    await server.close();
    await rm(base, { recursive: true, force: true });
  };
  return { server, open, close };
}
