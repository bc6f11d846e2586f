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
  /** The document ids, in job order. */
  readonly ids: readonly string[];
}

/** A service whose documents have no attachments, and a file store with the original of each under `/<document number>`. */
export async function library(documents: number): Promise<Library> {
  const place = await startPlace([documents]);
  const files = await startFileStore();
  const library = { ...place, files, folder: await testFolder(), ids: idsOf(place.datasets[0]) };
  for (const at of library.ids.keys()) give(library, at, `original ${at}`);
  for (const document of place.datasets[0]?.documents.values() ?? [])
    for (const chunk of document.chunks) chunk.attachments = [];
  return library;
}

/** Gives a document an original and names it in the details. `more` overrides what the service reports about the file. */
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

/** The job for `run`; `more` overrides its keys. */
export async function jobOf({ server, folder }: Library, more: Record<string, unknown> = {}): Promise<Job> {
  const { service: given, ...others } = more;
  const service = { base_url: server.url, concurrency: 4, retries: 1, ...(given as object | undefined) };
  const output = { dir: join(folder, "out"), formats: ["jsonl"] };
  return jobFor(folder, { service, datasets: "all", originals: true, output, ...others });
}

/** The text of every file in a folder; skips files that disappear meanwhile. */
export async function everyText(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = files.map(({ parentPath, name }) => readFile(join(parentPath, name), "utf8").catch(() => ""));
  return (await Promise.all(texts)).join("\n");
}
