import * as v from "valibot";
import type { Problem } from "../errors.js";
import { checkJob } from "./check-job.js";
import { isWithin } from "./finding.js";
import { gotText } from "./got-text.js";
import { type GivenFlag, mergeFlags, numberFrom } from "./merge-flags.js";
import { pathText } from "./path-text.js";
import { uuid } from "./schema/leaf.js";

/** Flags that name a service and say how to ask it, as the command line gives them: not checked. */
export interface ServiceFlags {
  /** The base URL. */
  readonly to?: unknown;
  readonly keyEnv?: unknown;
  readonly allowHttp?: unknown;
  readonly concurrency?: unknown;
  readonly maxRps?: unknown;
  readonly caFile?: unknown;
  readonly memory?: unknown;
}

const soundJob = {
  name: "flags",
  service: { base_url: "https://kb.example.com/v1" },
  datasets: [{ id: "00000000-0000-4000-8000-000000000000", documents: "all" }],
};

/** Problems of flags of a command without a job, by the rules that the job file follows. `addressFlag`: the one of the base URL. */
export function checkServiceFlags(flags: ServiceFlags, addressFlag = "--to"): readonly Problem[] {
  const all: readonly GivenFlag[] = [
    { flag: addressFlag, path: ["service", "base_url"], value: flags.to },
    { flag: "--key-env", path: ["service", "api_key_env"], value: flags.keyEnv },
    { flag: "--allow-http", path: ["service", "allow_http"], value: flags.allowHttp },
    { flag: "--concurrency", path: ["service", "concurrency"], value: numberFrom(flags.concurrency) },
    { flag: "--max-rps", path: ["service", "max_rps"], value: numberFrom(flags.maxRps) },
    { flag: "--ca-file", path: ["service", "ca_file"], value: flags.caFile },
    { flag: "--memory", path: ["output", "memory"], value: flags.memory },
  ];
  const given = all.filter(({ value }) => value !== undefined);
  const document = mergeFlags(soundJob, given);
  return checkJob(document, document).wrongValues.map(({ path, message }) => ({
    path: given.find((flag) => isWithin(path, flag.path))?.flag ?? pathText(path),
    message,
  }));
}

/** Problems of the ids that a flag names, each of which must be a UUID. */
export function checkIds(flag: string, ids: readonly string[]): readonly Problem[] {
  return ids.flatMap((id) => {
    const { issues } = v.safeParse(uuid, id);
    return issues ? [{ path: flag, message: `got ${gotText(id, [])}, expected ${issues[0].message}` }] : [];
  });
}
