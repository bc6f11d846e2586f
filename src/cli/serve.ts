import { once } from "node:events";
import { exitCodes, type Problem, StopError, UsageError } from "../errors.js";
import { emptyReadTally } from "../read-tally.js";
import type { ServeResult } from "../results/serve.js";
import type { ServedDump } from "../serve/serve-dump.js";
import { countText, jsonLine } from "../terminal/text.js";
import { renderReading } from "../terminal/verify-progress.js";
import { type ArgumentsOf, defineCommand, type Options, type Positionals } from "./command.js";
import { commonOptions, viewFrom } from "./options.js";
import type { World } from "./world.js";

const epilog = `Examples:
  kbdump serve output/nightly/latest
  kbdump serve output/nightly/runs/20261120T020000123Z --port 8080 --key-env BACKUP_KEY
  kbdump serve --demo --port 8080 --key local-key

A document of the demo can be indexed anew, as if somebody had changed its chunk settings: every chunk is replaced, and
what was made or edited by hand is lost. This is no part of the interface, and takes 5 seconds, or as many as seconds= says:
  curl -X POST -H "Authorization: Bearer local-key" "http://127.0.0.1:8080/demo/reindex/DOCUMENT_ID?seconds=20"
The answer names the new batch, whose status can be watched; with -H "Accept: text/plain" it is nothing else.

Exit codes: 0 stopped by SIGINT or SIGTERM · 1 the port cannot be had, or the dump is not as a run left it ·
2 wrong usage, no dump, or no key in the variable`;

const positionals = {
  folder: { type: "string", describe: "folder of a run: the one with manifest.json" },
} as const satisfies Positionals;

const options = {
  ...commonOptions,
  demo: { type: "boolean", default: false, describe: "serve the built-in sample data" },
  port: { type: "number", nargs: 1, default: 0, describe: "port on 127.0.0.1; 0 takes a free one" },
  "key-env": {
    type: "string",
    nargs: 1,
    describe: "the variable that holds the key that requests must carry; without, a random one is printed",
  },
  key: { type: "string", nargs: 1, describe: "with --demo: the key itself" },
} as const satisfies Options;

type ServeArguments = ArgumentsOf<typeof positionals & typeof options>;

/** A service that runs, and what it serves where that is a dump. */
interface Serving {
  readonly url: string;
  readonly key: string;
  readonly close: () => Promise<void>;
  readonly of?: Readonly<Record<"job" | "run_id", string>> & Pick<ServedDump, "counts">;
}

/** `kbdump serve`: answers the read operations from a dump or the sample data, on loopback, until a signal ends it. */
export const serveCommand = defineCommand({
  name: "serve [folder]",
  about: "answer the read operations of the service from a dump, or from built-in sample data",
  positionals,
  options,
  epilog,
  async run(args, world) {
    const problems = problemsOf(args);
    if (problems.length > 0) throw new UsageError("Nothing can be served:", problems);
    const serving = await start(args, world).catch((error: unknown) => {
      if (!world.signal.aborted) throw error;
    });
    if (serving) {
      world.stdout.write(addressText(args, serving));
      if (!world.signal.aborted) await once(world.signal, "abort");
      await serving.close();
    }
    return exitCodes.complete;
  },
});

function problemsOf({ folder, demo, port, key, keyEnv }: ServeArguments): readonly Problem[] {
  const problems = [
    folder === undefined &&
      !demo && { path: "--demo", message: "expected, or the folder of a run, such as output/nightly/latest" },
    folder !== undefined && demo && { path: "--demo", message: "the sample data is no folder; give one of the two" },
    !isPort(port) && { path: "--port", message: `got ${port}, expected a whole number from 0 to 65535` },
    key !== undefined &&
      !isWord(key) && { path: "--key", message: "expected one text that is not empty, without blanks" },
    keyEnv !== undefined && !isWord(keyEnv) && { path: "--key-env", message: "expected the name of one variable" },
    key !== undefined &&
      !demo && { path: "--key", message: "is for --demo: who lists processes would see it; use --key-env" },
    key !== undefined && keyEnv !== undefined && { path: "--key-env", message: "give it or --key" },
  ];
  return problems.filter((problem) => problem !== false);
}

async function start(args: ServeArguments, world: World): Promise<Serving> {
  const { folder, port, keyEnv } = args;
  const key = keyEnv === undefined ? args.key : await keyFrom(keyEnv, world);
  const options = { port, ...(key === undefined ? {} : { key }) };
  return folder === undefined ? startDemo(options) : startDump(folder, options, args, world);
}

async function keyFrom(name: string, world: World): Promise<string> {
  const { readKey } = await import("../job/read-key.js");
  return readKey({ apiKeyEnv: name, apiKeyFile: undefined }, world.env);
}

interface Address {
  readonly port: number;
  readonly key?: string;
}

async function startDemo(address: Address): Promise<Serving> {
  const { startService } = await import("../demo/start-service.js");
  return startService(address).catch((error: Error) => {
    throw new StopError(error.message, { cause: error });
  });
}

async function startDump(folder: string, address: Address, args: ServeArguments, world: World): Promise<Serving> {
  const { serveDump } = await import("../serve/serve-dump.js"); // heavy; --help does without
  const view = viewFrom(args, world);
  const tally = emptyReadTally("opening the dump");
  const unwatch = view.watch(renderReading(tally));
  const dump = await serveDump(folder, { ...address, tally, signal: world.signal }).finally(unwatch);
  for (const notice of dump.notices) view.log("warn", notice);
  const { documents, chunks, child_chunks: children } = dump.counts;
  const counted = [countText(documents, "document"), countText(chunks, "chunk"), countText(children, "child chunk")];
  view.log("info", `serving run ${dump.runId} of job ${dump.job}: ${counted.join(", ")}`);
  return { ...dump, of: { job: dump.job, run_id: dump.runId, counts: { documents, chunks, child_chunks: children } } };
}

/** The key itself stands there only where nobody else knows it. */
function addressText({ keyEnv, json }: ServeArguments, { url, key, of }: Serving): string {
  if (json) {
    const result: ServeResult = {
      status: "serving",
      base_url: url,
      key: keyEnv === undefined ? key : null,
      key_env: keyEnv ?? null,
      job: of?.job ?? null,
      run_id: of?.run_id ?? null,
      counts: of?.counts ?? null,
    };
    return `${jsonLine(result)}\n`;
  }
  return `base_url: ${url}\nkey:      ${keyEnv === undefined ? key : `as in ${keyEnv}`}\n`;
}

/** Whether a flag was given once, as yargs makes a list of two, and without blanks, which cannot be sent. */
function isWord(text: unknown): boolean {
  return typeof text === "string" && /^\S+$/.test(text);
}

function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 0 && port <= 65_535;
}
