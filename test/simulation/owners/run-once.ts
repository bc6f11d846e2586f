import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { currentDatabase, newDatabase } from "../../../src/database/job-database.js";
import { isRunId } from "../../../src/dump/run-id.js";
import type { Job } from "../../../src/job/job.js";
import { emptyRunProgress } from "../../../src/job/run-progress.js";
import { openWorkspace } from "../../../src/run/open-workspace.js";
import { publishRun } from "../../../src/run/publish-run.js";
import { count, text } from "../../../src/schema.js";
import { DocumentOnDisk } from "../../../src/segments/document-on-disk.js";
import { waitingFiles } from "../../../src/status/waiting-status.js";
import "../../../src/database/inspect-database.js"; // the program loads it late, which must not take a step of the schedule
import { fileName } from "../../../src/dump/formats/format.js";
import { joinJsonl, jsonlText } from "../../../src/dump/formats/jsonl.js";
import { manifestFormat } from "../../../src/dump/manifest.js";
import type { Workspace } from "../../../src/store/lease.js";
import type { SimulatedProcess } from "./process.js";

/** A deliberate fault of a process, which the judge must detect. */
export interface RunSabotage {
  /** Whether the process reads the published files too early: before it has stopped other processes from publishing. */
  readonly readsEarly?: boolean;
}

/** The content of the toy database: the runs in it, and the readings of the indexing status. */
export interface Listed {
  readonly runs: readonly string[];
  readonly readings: readonly string[];
}

/** The result of a process that published. */
export interface Said {
  readonly runId: string;
  readonly status: "complete" | "partial";
}

/** The file with the rows, in its own folder like the files of a partition. */
const table = { kind: "chunks", format: "jsonl", dataset: "d", compression: "none" } as const;
export const rowsFile = fileName(table);

/** The number of commits, each with a few rows of the only document. */
const commits = 4;
export const rowsOfRun = Array.from({ length: commits * 2 }, (_, at) => `{"id":"chunk ${at}"}`);

/**
 * Runs a job with the program's own code for locking, fencing, resuming and publishing. Only the data that it reads and the contents of
 * the database are made up.
 */
export async function runOnce(process: SimulatedProcess, job: Job, sabotage: RunSabotage): Promise<Said> {
  const folder = join(job.output.dir, job.name);
  const early = sabotage.readsEarly ? await listedIn(join(folder, "job.duckdb"), join(folder, "runs")) : undefined;
  const log = (_level: string, message: string) => void process.messages.push(message);
  const options = {
    now: () => new Date("2026-11-20T02:00:00Z"),
    log,
    fresh: false,
    retryFailed: false,
    progress: emptyRunProgress(),
    env: {},
    signal: new AbortController().signal,
  };
  await using workspace = await openWorkspace(job, options);
  try {
    const previous = await currentDatabase(workspace);
    const listed = early ?? (await listedIn(previous, workspace.runs));
    const waiting = await waitingFiles(workspace);
    await stage(process, job, workspace);
    const readings = [...listed.readings, ...(await Promise.all(waiting.map((path) => readFile(path, "utf8"))))];
    const database = { runs: [...listed.runs, workspace.runId], readings: [...new Set(readings)] };
    const built = join(workspace.scratch, newDatabase);
    await writeFile(built, JSON.stringify(database));
    const manifest = { status: "complete", run_id: workspace.runId } as Parameters<typeof publishRun>[0]["manifest"];
    const { signal } = options;
    const toPublish = { job, manifest, newDatabase: built, isDamaged: false, waiting, onCommit: () => {}, signal };
    const { problems } = await publishRun(toPublish, workspace);
    workspace.keep(problems.length > 0 ? "everything" : "nothing");
    return { runId: workspace.runId, status: problems.length > 0 ? "partial" : "complete" };
  } catch (error) {
    throw await workspace.explain(error);
  }
}

/** Reads the toy database, and adds newer published runs, as the program does from their folders. */
async function listedIn(path: string | undefined, runsFolder: string): Promise<Listed> {
  const nothing = '{"runs":[],"readings":[]}';
  const text = path === undefined ? nothing : await readFile(path, "utf8").catch(() => nothing);
  const { runs, readings }: Listed = JSON.parse(text);
  const published = (await readdir(runsFolder).catch((): string[] => [])).filter(isRunId).sort();
  return { runs: [...runs, ...published.filter((run) => run > (runs.at(-1) ?? ""))], readings };
}

/** Crawls the document into segments, or resumes them, and builds the run folder. */
async function stage(process: SimulatedProcess, job: Job, workspace: Workspace): Promise<void> {
  const store = new DocumentOnDisk<number, string>(workspace.segments, "0000001", [jsonlText]);
  if ((await store.result(text)) === undefined) {
    const done = (await store.resume(count)) ?? 0;
    for (let at = done; at < rowsOfRun.length; at += 2) {
      const rows = rowsOfRun.slice(at, at + 2).map((text) => JSON.parse(text));
      await store.add("chunks", rows, at + 2);
      await store.flush();
      await commitJournal(store, at + 2);
    }
    await store.finish("done");
  }
  const staged = { ...table, rows: rowsOfRun.length, segments: () => store.files };
  const { sha256 } = await joinJsonl(workspace.stage, staged, {});
  const facts = { format: manifestFormat, job: job.name, run_id: workspace.runId, status: "complete" };
  const manifest = { ...facts, writer: process.number, sha256 };
  await writeFile(join(workspace.stage, "manifest.json"), JSON.stringify(manifest));
}

/** Forces the store to write its journal. Normally it does so every eight commits, which a run of a few rows never reaches. */
async function commitJournal(store: DocumentOnDisk<number, string>, state: number): Promise<void> {
  for (let count = 0; count < 8; count++) await store.add("chunks", [], state);
  await store.flush();
}
