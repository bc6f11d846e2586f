import { setTimeout as delay } from "node:timers/promises";
import { UsageError } from "../../errors.js";
import { itemsOf } from "../options.js";
import type { World } from "../world.js";
import type { RestoreArguments } from "./flags.js";

/** The settings that every restore has, and that need no look at a folder. */
export function settingsFrom(args: RestoreArguments, { env, signal }: Pick<World, "env" | "signal">) {
  const { keyEnv, allowHttp, apply, memory, caFile, maxRps } = args;
  return {
    ...{ keyEnv, allowHttp, apply, memory, caFile, env, signal },
    documents: itemsOf(args.document),
    concurrency: numberFrom(args.concurrency),
    maxRps: numberFrom(maxRps),
    now: () => new Date(),
    sleep: (milliseconds: number, ending: AbortSignal) => delay(milliseconds, undefined, { signal: ending }),
  };
}

function numberFrom(text: unknown): number | undefined {
  return text === undefined ? undefined : Number(text);
}

/** The key of a restore. UsageError where the variable has none. */
export async function keyFrom(name: string, env: NodeJS.ProcessEnv): Promise<string> {
  if (env[name] === undefined) {
    const why = "restore has a key of its own, which may write, as the key of a job is for reading only";
    throw new UsageError(`no key: the variable ${name} is not set; ${why}. Set it: export ${name}=…`, []);
  }
  const { readKey } = await import("../../job/read-key.js");
  return readKey({ apiKeyEnv: name }, env);
}
