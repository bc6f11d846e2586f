import { exitCodes } from "../errors.js";
import { emptyRunTally } from "../job/run-tally.js";

import { jsonLine } from "../terminal/text.js";
import { renderWorker, workerJson, workerText } from "../terminal/worker/worker.js";
import { defineCommand } from "./command.js";
import { durationFrom } from "./duration.js";
import { withWork } from "./kept-progress.js";
import { brokerFrom } from "./line/broker-flag.js";
import { wholeNumberFrom } from "./line/whole-number.js";
import { wrongLine } from "./line/wrong-line.js";
import { commonOptions, environmentOption, jobFrom, outOption, viewFrom } from "./options.js";
import { printResult } from "./print-result.js";

const epilog = `Examples:
  kbdump worker redis://queue.example.com:6379 nightly.yaml
  kbdump worker redis://127.0.0.1:6379 nightly.yaml --idle 10m --in-flight 4
  kbdump worker BROKER_URL nightly.yaml

The run itself is kbdump run nightly.yaml --workers redis://queue.example.com:6379, on any machine. Both need the same version, the same job file and the same output: a folder that all machines see, or a bucket. The broker holds no URL, no key and no result.

Exit codes: 0 idle for as long as --idle says · 1 the service, the broker or the disk cannot be used · 2 wrong usage, or a library is missing · 130, 143 interrupted: documents that it had are given back`;

/** Bounds of `--idle`, in milliseconds: timers of Node go no further than 24 days. */
const idleBounds = { least: 1_000, most: 1_728_000_000, text: "from 1 s to 480 h" };
/** The most requests in flight that a job file allows. */
const mostInFlight = 64;

/** `kbdump worker <broker> <job>`: reads documents for runs of a job that hand them out. */
export const workerCommand = defineCommand({
  name: "worker <broker> <job>",
  about: "read documents for runs of a job that are shared out over a queue",
  positionals: {
    broker: {
      type: "string",
      demandOption: true,
      describe:
        "address of the Redis or Valkey with the queue, such as redis://127.0.0.1:6379, rediss:// for TLS; or the name of an environment variable that holds it",
    },
    job: { type: "string", demandOption: true, names: "job file", describe: "job file of the runs, YAML or JSON" },
  },
  options: {
    ...commonOptions,
    ...outOption,
    idle: {
      type: "string",
      describe: "end after so long without work, such as 10m; default: wait for the next run for good",
    },
    "in-flight": {
      describe: "maximum concurrent requests of this worker; default: as many as all workers may have together",
    },
    ...environmentOption,
  },
  epilog,
  async run(args, world) {
    const idle = args.idle === undefined ? undefined : durationFrom("--idle", args.idle, idleBounds);
    const inFlight =
      args.inFlight === undefined ? undefined : wholeNumberFrom("--in-flight", String(args.inFlight), 1, mostInFlight);
    const broker = brokerFrom("<broker>", args.broker, world.env);
    const problems = [broker, idle, inFlight].filter((found) => typeof found === "object");
    if (typeof broker === "object" || typeof idle === "object" || typeof inFlight === "object")
      throw wrongLine(problems);
    const { job: file, out, envFile } = args;
    const job = await jobFrom({ job: file, out, envFile }, {}, world);
    const { workDocuments } = await import("../parallel/worker/work-documents.js"); // heavy; --help does without
    const view = viewFrom(args, world);
    const tally = emptyRunTally();
    const unwatch = view.watch(renderWorker(tally));
    const { env, signal } = world;
    const setting = { broker, env, signal, tally, log: view.log, idle, inFlight };
    const result = await workDocuments(job, setting)
      .catch((error: unknown) => {
        throw withWork(error, tally);
      })
      .finally(unwatch);
    await printResult(world, args.json ? jsonLine(workerJson(result)) : workerText(result), "the documents are read");
    return exitCodes.complete;
  },
});
