import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { StopError } from "../errors.js";
import { emptyReadProgress, type ReadProgress } from "../read-progress.js";
import type { Verification } from "../verify/findings.js";
import { verifyRun } from "../verify/verify-run.js";
import type { ReportOptions } from "./report-options.js";

/** The messages of the worker: progress, and how it ends. */
type Message = { readonly progress: ReadProgress } | { readonly verified: Verification } | { readonly stopped: string };

type Work = Pick<ReportOptions, "folder" | "memory">;

/** The worker's program: this file, built. Tests import the source, which a worker thread cannot run. */
const program = new URL(import.meta.url.replace(/\/src\/report\/[\w-]+\.ts$/, "/dist/report/verify-worker.js"));

/** Runs `verifyRun` in a separate thread. */
export async function verifyInWorker(
  folder: string,
  { memory, signal, progress }: Pick<ReportOptions, "memory" | "signal" | "progress">,
): Promise<Verification> {
  signal.throwIfAborted();
  const worker = new Worker(program, { workerData: { folder, memory } satisfies Work, execArgv: [] });
  const abort = () => worker.postMessage("abort");
  signal.addEventListener("abort", abort);
  try {
    return await new Promise((resolve, reject) => {
      worker.on("error", reject);
      worker.on("exit", () => reject(signal.reason)); // only an abort ends it without a message
      worker.on("message", (message: Message) => {
        if ("progress" in message) Object.assign(progress, message.progress);
        else if ("verified" in message) resolve(message.verified);
        else reject(new StopError(message.stopped));
      });
    });
  } finally {
    signal.removeEventListener("abort", abort);
    await worker.terminate();
  }
}

if (!isMainThread && parentPort && isWork(workerData)) await work(workerData, parentPort);

async function work({ folder, memory }: Work, port: NonNullable<typeof parentPort>): Promise<void> {
  const send = (message: Message) => port.postMessage(message);
  const stop = new AbortController();
  port.on("message", () => stop.abort());
  const progress = emptyReadProgress();
  const telling = setInterval(() => send({ progress }), 200);
  try {
    send({ verified: await verifyRun(folder, { memory, signal: stop.signal, progress }) });
  } catch (error) {
    if (error instanceof StopError) send({ stopped: error.message });
    else if (!stop.signal.aborted) throw error;
  } finally {
    clearInterval(telling);
    port.close();
  }
}

function isWork(data: unknown): data is Work {
  return typeof data === "object" && data !== null && "folder" in data && "memory" in data;
}
