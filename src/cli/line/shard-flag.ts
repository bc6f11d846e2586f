import { mostShards } from "../../dump/manifest.js";
import type { Problem } from "../../errors.js";
import { gotText } from "../../job/findings.js";
import type { Shard } from "../../job/job.js";
import { wrongLine } from "./wrong-line.js";

/** Kubernetes counts the pods of an Indexed Job from 0: https://kubernetes.io/docs/concepts/workloads/controllers/job/#completion-mode */
const indexVariable = "JOB_COMPLETION_INDEX";

/** The shard that `3/16` or, in a pod of Kubernetes, `auto/16` is; undefined without the flag. UsageError for anything else. */
export function shardFrom(given: string | undefined, env: NodeJS.ProcessEnv): Shard | undefined {
  if (given === undefined) return undefined;
  const [, part = "", digits = ""] = /^(\d{1,5}|auto)\/(\d{1,5})$/.exec(given) ?? [];
  const count = Number(digits);
  if (part === "" || count < 1 || count > mostShards)
    throw wrongLine([{ path: "--shard", message: expectation(given) }]);
  const index = part === "auto" ? indexFrom(env[indexVariable], count) : Number(part);
  if (typeof index !== "number") throw wrongLine([index]);
  if (index < 1 || index > count) throw wrongLine([{ path: "--shard", message: expectation(given) }]);
  return { index, count };
}

function expectation(given: string): string {
  return `got ${gotText(given, [])}, expected such as 3/16, the third of 16 shards, or auto/16 in a pod of an Indexed Job; at most ${mostShards} shards`;
}

/** The index from 1, or why there is none. */
function indexFrom(given: string | undefined, count: number): number | Problem {
  if (given !== undefined && /^\d{1,5}$/.test(given) && Number(given) < count) return Number(given) + 1;
  const got = given === undefined ? "it is not set" : `it is ${gotText(given, [])}`;
  const message = `auto takes the index from ${indexVariable}, which Kubernetes sets in the pods of an Indexed Job: ${got}, expected 0 to ${count - 1}`;
  return { path: "--shard", message };
}
