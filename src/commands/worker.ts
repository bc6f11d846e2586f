import { hostname } from "node:os";
import { countText, rowsText } from "../amounts.js";
import { defineCommand } from "../cli/command.js";
import { brokerFrom, durationOption, wholeNumberFrom } from "../cli/flag-values.js";
import { jobFrom, outOption } from "../cli/options.js";
import { progressOfRun, renderWork } from "../cli/progress-text.js";
import type { Rendering } from "../cli/progress-view.js";
import { exitCodes, InterruptedError } from "../errors.js";
import { emptyRunProgress, type RunProgress, waitingForDocuments } from "../job/run-progress.js";
import { type WorkerResult, workerResult } from "../parallel/worker-options.js";

const epilog = `Examples:
  kbdump worker redis://queue.example.com:6379 nightly.yaml
  kbdump worker redis://127.0.0.1:6379 nightly.yaml --idle 10m --in-flight 4
  kbdump worker BROKER_URL nightly.yaml

The run itself is kbdump run nightly.yaml --workers redis://queue.example.com:6379, on any machine. Both need the same version, the same job file and the same output: a folder that all machines see, or a bucket. The broker holds no URL, no key and no result.

Exit codes: 0 idle for as long as --idle says · 1 the service, the broker or the disk cannot be used · 2 wrong usage, or a library is missing · 130, 143 interrupted: its documents are returned to the queue`;

/** `kbdump worker <broker> <job>`: reads documents for runs of a job that distribute them. */
export const command = defineCommand({
  name: "worker <broker> <job>",
  about: "read documents for runs of a job that distribute them over a queue",
  positionals: {
    broker: {
      type: "string",
      demandOption: true,
      read: (given: string, path: string, env: NodeJS.ProcessEnv) => brokerFrom(path, given, env),
      describe:
        "address of the Redis or Valkey with the queue, such as redis://127.0.0.1:6379, rediss:// for TLS; or the name of an environment variable that holds it",
    },
    job: {
      type: "string",
      demandOption: true,
      names: "job file",
      describe: "job file of the runs, or the name of a job that has run",
    },
  },
  options: {
    ...outOption,
    idle: {
      ...durationOption({ least: 1_000, most: 1_728_000_000, text: "from 1 s to 480 h" }), // Node's timers allow 24 days
      describe: "end after this time without work, such as 10m; default: wait indefinitely",
    },
    "in-flight": {
      value: "N",
      read: (given: string, path: string) => wholeNumberFrom(path, given, 1, 64), // as a job file allows
      describe: "maximum concurrent requests of this worker; default: the limit for all workers together",
    },
  },
  epilog,
  results: () => ({ worker: workerResult }),
  async run(args, environment) {
    const { broker, idle, inFlight } = args;
    const job = await jobFrom(args, environment);
    const { workDocuments } = await import("../parallel/worker.js"); // slow to load; --help does not need it
    const { env, signal, view } = environment;
    const progress = emptyRunProgress();
    const unwatch = view.watch(renderWorker(progress));
    const name = `${hostname().replace(/[^\w.-]/g, "_")}-${process.pid}`;
    const context = { broker, env, signal, progress, log: view.log, idle, inFlight, name };
    const result = await workDocuments(job, context)
      .catch((error: unknown) => {
        throw withWork(error, progress);
      })
      .finally(unwatch);
    await environment.print(result, () => workerText(result), "the documents are read");
    return exitCodes.complete;
  },
});

/** Adds to the error of an interrupted worker how many documents it read. */
export function withWork(error: unknown, { documentsDone }: Pick<RunProgress, "documentsDone">): unknown {
  if (!(error instanceof InterruptedError)) return error;
  const read = `${countText(documentsDone, "document")} read`;
  return error.with(read, "documents that it had not finished are returned to the queue");
}

/** Renders the progress of a worker, which has no end. */
export function renderWorker(progress: RunProgress): Rendering {
  return renderWork(() => {
    const { step, documentsDone: done, chunks, child_chunks, requests } = progress;
    const read = [
      { noun: "document", done },
      { noun: "chunk", done: chunks },
      { noun: "child chunk", done: child_chunks },
    ];
    return {
      ...progressOfRun(progress),
      done: requests.answered,
      of: Number.POSITIVE_INFINITY,
      counted: step === waitingForDocuments ? 0 : requests.answered,
      counts: done > 0 ? read : [],
    };
  }, true);
}

/** One sentence on what a worker did. */
function workerText(result: WorkerResult): string {
  const { name, failed, late, requests } = result;
  const failures = failed > 0 ? [countText(failed, "failed attempt")] : [];
  const others = late > 0 ? [`${countText(late, "document")} that others had read`] : [];
  return `worker ${name} has read ${[rowsText(result), ...failures, ...others].join(", ")} with ${countText(requests, "request")}`;
}
