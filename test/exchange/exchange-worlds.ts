import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Attempt, AttemptFile, Exchange, OwnExchange } from "../../src/exchange/exchange.js";
import { openFolderExchange, ownFolderExchange } from "../../src/exchange/folder-exchange.js";
import type { Job } from "../../src/job/job.js";
import { withHold } from "../../src/run/work/hold.js";
import { foldersOf, type Hold, type JobFolders } from "../../src/run/work/job-folders.js";
import { dataset, document } from "../job/job-folder.js";
import { jobFor, testFolder } from "../run/job-for.js";

export const runId = "20261120T020000000Z";

/** A coordinator and its workers, as they share the output of a job. */
export interface ExchangeWorld {
  readonly own: OwnExchange;
  readonly worker: () => Promise<Exchange>;
  /** The coordinator of the same run again, after it was killed. */
  readonly restart: () => Promise<OwnExchange>;
  /** Changes the bytes of a file that was handed over. */
  readonly damage: (name: string, token: string, file: string, bytes: string) => Promise<void>;
  /** A path for a file that is taken. */
  readonly target: string;
}

/** A job whose output is a folder, held until the test is over or `release` is called. */
export async function holdFolder() {
  const folder = await testFolder();
  const job = await jobFor(folder, { service: { demo: true }, datasets: [{ id: dataset, documents: [document] }] });
  const held = await holdJob(job);
  const folders: JobFolders = foldersOf(job);
  return { folder, job, folders, ...held };
}

/** Holds a job until the test is over or `release` is called. */
export async function holdJob(job: Job): Promise<{ readonly hold: Hold; readonly release: () => Promise<void> }> {
  let end = () => {};
  let holding: Promise<void> | undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const options = { now: () => new Date("2026-11-22T02:00:00Z"), log: () => {} };
  const hold = await new Promise<Hold>((resolve, reject) => {
    holding = withHold(job, options, (held) => {
      resolve(held);
      return ended;
    });
    holding.catch(reject);
  });
  const release = async () => {
    end();
    await holding?.catch(() => {});
  };
  onTestFinished(release);
  return { hold, release };
}

/** The exchange of a job whose output is a folder. */
export async function openFolderWorld(): Promise<ExchangeWorld> {
  const { folder, job, folders, hold, release } = await holdFolder();
  return {
    own: await ownFolderExchange(hold, runId),
    worker: () => openFolderExchange(folders, runId),
    restart: async () => {
      await release();
      return ownFolderExchange((await holdJob(job)).hold, runId);
    },
    damage: (name, _token, file, bytes) =>
      writeFile(join(folders.private, "exchange", runId, "results", name, file), bytes),
    target: join(folder, "taken"),
  };
}

/** Begins an attempt, and writes files into its folder as a worker that reads a document does. */
export async function readInto(
  exchange: Exchange,
  name: string,
  texts: Readonly<Record<string, string>>,
): Promise<{ readonly attempt: Attempt; readonly files: readonly AttemptFile[] }> {
  const attempt = await exchange.begin(name);
  if (!attempt) throw new Error("the run is over");
  const files: AttemptFile[] = [];
  for (const [file, content] of Object.entries(texts)) {
    await writeFile(join(attempt.folder, file), content);
    files.push({ file, ...factsOf(content) });
  }
  return { attempt, files };
}

export const factsOf = (content: string) => ({
  bytes: Buffer.byteLength(content),
  sha256: createHash("sha256").update(content).digest("hex"),
});
