import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Original } from "../../src/dump/manifest.js";
import type { Job } from "../../src/job/job.js";
import type { RunResult } from "../../src/run/make-run.js";
import { runJob } from "../../src/run/run-job.js";
import { idsOf, type Place, startPlace } from "../crawl/discover/discovering.js";
import { jobFor, testFolder } from "../run/job-for.js";
import { type FileStore, file, startFileStore } from "../servers/file-store.js";

export const sign = "sign=SignatureThatNobodyMaySee";

export interface Library extends Place {
  readonly store: Place["store"];
  readonly files: FileStore;
  readonly folder: string;
  /** Ids of the documents, in the order of the job. */
  readonly ids: readonly string[];
}

/** A service of documents without attachments, and a file store that has the original of each under `/<place of the document>`. */
export async function library(documents: number): Promise<Library> {
  const place = await startPlace([documents]);
  const files = await startFileStore();
  const library = { ...place, files, folder: await testFolder(), ids: idsOf(place.datasets[0]) };
  for (const at of library.ids.keys()) give(library, at, `original ${at}`);
  for (const document of place.datasets[0]?.documents.values() ?? [])
    for (const chunk of document.chunks) chunk.attachments = [];
  return library;
}

/** Lets a document have an original, which its details name, too: `more` says what the service says of it in place of the truth. */
export function give({ datasets, files, ids }: Library, at: number, bytes: string, more: object = {}): void {
  files.files.set(`/${at}`, file(bytes));
  const document = datasets[0]?.documents.get(ids[at] ?? "");
  const facts = { id: `upload-${at}`, name: `Guide ${at}.pdf`, size: Buffer.byteLength(bytes), extension: "pdf" };
  const address = `${files.url}/${at}?${sign}`;
  const upload = { ...facts, url: null, download_url: address, mime_type: "application/pdf", ...more };
  if (!document) return;
  document.upload = upload;
  const { id, name } = document;
  const { url: _, download_url: __, ...reported } = upload;
  document.details = { id, name, data_source_type: "upload_file", data_source_info: { upload_file: reported } };
}

export async function run(
  library: Library,
  more: Record<string, unknown> = {},
  options: object = {},
): Promise<RunResult> {
  return runJob(await jobOf(library, more), { env: { KNOWLEDGE_API_KEY: library.server.key }, ...options });
}

export const originalsOf = ({ manifest }: RunResult): readonly Original[] => manifest.originals ?? [];
export const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** The job that `run` runs, with `more` over it. */
export async function jobOf({ server, folder }: Library, more: Record<string, unknown> = {}): Promise<Job> {
  const { service: given, ...others } = more;
  const service = { base_url: server.url, concurrency: 4, retries: 1, ...(given as object | undefined) };
  const output = { dir: join(folder, "out"), formats: ["jsonl"] };
  return jobFor(folder, { service, datasets: "all", originals: true, output, ...others });
}

/** The text of every file in a folder; one that goes away meanwhile has none. */
export async function everyText(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = files.map(({ parentPath, name }) => readFile(join(parentPath, name), "utf8").catch(() => ""));
  return (await Promise.all(texts)).join("\n");
}
