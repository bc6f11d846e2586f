import { once } from "node:events";
import * as v from "valibot";
import { rowsText } from "../amounts.js";
import { type Arguments, defineCommand, type Environment, type Options, type Positionals } from "../cli/command.js";
import { wholeNumberFrom } from "../cli/flag-values.js";
import { findOptionsFrom, outOption, runPositional } from "../cli/options.js";
import { renderReading } from "../cli/progress-text.js";
import { jsonLine } from "../cli/text.js";
import { exitCodes, type Problem } from "../errors.js";
import { emptyReadProgress } from "../read-progress.js";
import { count, orNull, result, text } from "../schema.js";
import type { ServedDump } from "../serve/serve-dump.js";

const epilog = `Examples:
  kbdump serve nightly
  kbdump serve output/nightly/runs/20261120T020000123Z --port 8080 --key-env BACKUP_KEY
  kbdump serve --demo --port 8080 --key local-key

To re-index a document of the sample data, as a change of its chunk settings does:
  curl -X POST -H "Authorization: Bearer local-key" http://127.0.0.1:8080/demo/reindex/ID
This replaces every chunk and loses every manual edit. It takes 5 seconds, or as many as ?seconds= says. The answer contains the new batch; with -H "Accept: text/plain", it is only the batch.

With --demo, the service also accepts writes to chunks and child chunks, until it ends; docs/restore.md shows how to edit a chunk.

Exit codes: 0 stopped by SIGINT or SIGTERM · 1 the port is taken, or the dump is not as a run left it · 2 wrong usage, no such run, or no key in the variable`;

const positionals = { run: { ...runPositional.run, demandOption: false } } as const satisfies Positionals;

const options = {
  ...outOption,
  demo: { type: "boolean", default: false, describe: "serve the built-in sample data" },
  port: {
    default: "0",
    value: "N",
    read: (given: string, path: string) => wholeNumberFrom(path, given, 0, 65_535),
    describe: "port on 127.0.0.1; default: 0, a free port",
  },
  "key-env": {
    value: "NAME",
    conflicts: "key",
    read: wordFrom("the name of an environment variable"),
    describe: "environment variable with the key that requests must carry; without it, kbdump prints a random key",
  },
  key: { value: "KEY", read: wordFrom("a text without white space"), describe: "with --demo: the key itself" },
} as const satisfies Options;

/** Returns a function that reads a key or the name of a variable. Neither has white space, which a header cannot contain. */
function wordFrom(expected: string) {
  return (given: string, path: string) => (/^\S+$/.test(given) ? given : { path, message: `expected ${expected}` });
}

type ServeArguments = Arguments<typeof positionals & typeof options>;

/** A running service, and the dump that it serves, if any. */
interface Serving {
  readonly url: string;
  readonly key: string;
  readonly close: () => Promise<void>;
  readonly of?: Readonly<Record<"job" | "run_id", string>> & Pick<ServedDump, "counts">;
}

/** `kbdump serve`: answers the read operations from a dump or the sample data, on loopback, until a signal ends it. */
export const command = defineCommand({
  name: "serve [run]",
  about: "serve the read operations of the API from a dump, or from sample data",
  positionals,
  options,
  epilog,
  results: () => ({ serve: serveResult }),
  check: problemsOf,
  async run(args, environment) {
    const serving = await start(args, environment).catch((error: unknown) => {
      if (!environment.signal.aborted) throw error;
    });
    if (serving) {
      environment.stdout.write(addressText(args, serving)); // does not wait for the reader
      if (!environment.signal.aborted) await once(environment.signal, "abort");
      await serving.close();
    }
    return exitCodes.complete;
  },
});

function problemsOf({ run, demo, key }: ServeArguments): readonly Problem[] {
  const nothing = "nothing to serve: name a run or a job, such as output/nightly/latest, or give --demo";
  const shown = "only with --demo, as other users see it in the list of processes; use --key-env";
  return [
    ...(run === undefined && !demo ? [{ path: "", message: nothing }] : []),
    ...(run !== undefined && demo ? [{ path: "--demo", message: "not together with a run" }] : []),
    ...(key !== undefined && !demo ? [{ path: "--key", message: shown }] : []),
  ];
}

async function start(args: ServeArguments, environment: Environment): Promise<Serving> {
  const { run, keyEnv, port } = args;
  const { env, signal, view } = environment;
  const { readKey } = await import("../job/read-key.js"); // slow to load; --help does not need it
  const key = keyEnv === undefined ? args.key : await readKey({ apiKeyEnv: keyEnv }, env);
  const address = { port, ...(key === undefined ? {} : { key }) };
  if (run === undefined) {
    const { startService } = await import("../demo/start-service.js");
    return startService(address);
  }
  const { findRun } = await import("../store/find-run.js");
  const folder = await findRun(run, findOptionsFrom(args, environment));
  const { serveDump } = await import("../serve/serve-dump.js");
  const progress = emptyReadProgress("opening the dump");
  const unwatch = view.watch(renderReading(progress));
  const dump = await serveDump(folder, { ...address, progress, signal }).finally(unwatch);
  for (const notice of dump.notices) view.log("warn", notice);
  const { documents, chunks, child_chunks } = dump.counts;
  view.log("info", `serving run ${dump.runId} of job ${dump.job}: ${rowsText(dump.counts)}`);
  return { ...dump, of: { job: dump.job, run_id: dump.runId, counts: { documents, chunks, child_chunks } } };
}

/** The address as text or JSON. It has the key itself only if that does not come from a variable. */
function addressText({ keyEnv, json }: ServeArguments, { url, key, of }: Serving): string {
  const result: ServeResult = {
    status: "serving",
    base_url: url,
    key: keyEnv === undefined ? key : null,
    key_env: keyEnv ?? null,
    job: of?.job ?? null,
    run_id: of?.run_id ?? null,
    counts: of?.counts ?? null,
  };
  if (json) return `${jsonLine(result)}\n`;
  return `base_url: ${url}\nkey:      ${result.key ?? `as in ${keyEnv}`}\n`;
}

/** The object that `kbdump serve --json` prints once it answers requests. */
const serveResult = result({
  status: v.literal("serving"),
  base_url: text,
  key: v.pipe(orNull(text), v.description("the key that requests must carry; null with --key-env")),
  key_env: v.pipe(orNull(text), v.description("the variable that holds the key")),
  job: v.pipe(orNull(text), v.description("null for sample data, like run_id and counts")),
  run_id: orNull(text),
  counts: orNull(result({ documents: count, chunks: count, child_chunks: count })),
});

type ServeResult = v.InferOutput<typeof serveResult>;
