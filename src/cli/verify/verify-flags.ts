import type { Problem } from "../../errors.js";
import type { AgainstOptions } from "../../restore/copy/against.js";
import type { ArgumentsOf, Options } from "../command.js";
import { wrongLine } from "../line/wrong-line.js";
import { commonOptions, dirOption, environmentOption, itemsOf, memoryOption } from "../options.js";
import type { World } from "../world.js";

/** The flags of a comparison with a service. */
const againstOptions = {
  against: {
    type: "string",
    describe: "base URL of a service to compare the run with, such as one that it was restored to; it is only read",
  },
  "key-env": {
    type: "string",
    describe: "with --against: environment variable with the key; default: KNOWLEDGE_API_KEY",
  },
  "allow-http": {
    type: "boolean",
    describe: "with --against: allow plain http to another host, which shows the key to the network",
  },
  concurrency: { describe: "with --against: maximum concurrent requests, 1 to 64; default: 8" },
  "max-rps": { describe: "with --against: maximum requests per second" },
  "ca-file": {
    type: "string",
    names: "file",
    describe: "with --against: PEM file of the authority that signed the certificate",
  },
  document: {
    type: "string",
    array: true,
    describe: "with --against: documents to compare, by their UUIDs, with commas or repeated; default: all",
  },
} as const satisfies Options;

export const options = {
  ...commonOptions,
  duckdb: {
    type: "string",
    valueIsOptional: true,
    describe: "compare with <job>.duckdb beside the runs, too, or with the file of --duckdb=PATH",
  },
  ...againstOptions,
  ...dirOption,
  ...memoryOption,
  ...environmentOption,
} as const satisfies Options;

export type VerifyArguments = ArgumentsOf<typeof options>;

/** Checks everything that can be checked before a run is looked for; UsageError with every problem. */
export async function checkArguments(args: VerifyArguments): Promise<void> {
  const { checkIds, checkServiceFlags } = await import("../../job/check-job.js"); // heavy; --help does without
  const problems = [
    ...checkServiceFlags({ ...args, to: args.against }, "--against"),
    ...checkIds("--document", itemsOf(args.document)),
    ...lonelyFlags(args),
  ];
  if (problems.length > 0) throw wrongLine(problems);
}

/** Flags that mean nothing without `--against`. */
function lonelyFlags({
  against,
  keyEnv,
  allowHttp,
  concurrency,
  maxRps,
  caFile,
  document,
}: VerifyArguments): readonly Problem[] {
  if (against !== undefined) return [];
  const given = Object.entries({
    ...{ "--key-env": keyEnv, "--allow-http": allowHttp, "--concurrency": concurrency },
    ...{ "--max-rps": maxRps, "--ca-file": caFile, "--document": document },
  }).filter(([, value]) => value !== undefined);
  return given.map(([path]) => ({ path, message: "only with --against, which names the service to compare with" }));
}

/** The settings of a comparison, but for the place of the run and the progress; undefined where none was asked for. */
export async function againstFrom(
  args: VerifyArguments,
  { env, signal }: World,
): Promise<Omit<AgainstOptions, "folder" | "log" | "tally"> | undefined> {
  const { against, keyEnv = "KNOWLEDGE_API_KEY", allowHttp = false, concurrency, maxRps, memory, caFile } = args;
  if (against === undefined) return undefined;
  const { readKey } = await import("../../job/read-key.js");
  const numberOf = (text: unknown) => (text === undefined ? undefined : Number(text));
  return {
    ...{ baseUrl: against, addressFlag: "--against", keyEnv, key: await readKey({ apiKeyEnv: keyEnv }, env) },
    ...{ allowHttp, memory, caFile, env, signal, now: () => new Date() },
    documents: itemsOf(args.document),
    concurrency: numberOf(concurrency),
    maxRps: numberOf(maxRps),
  };
}
