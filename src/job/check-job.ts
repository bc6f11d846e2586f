import * as v from "valibot";
import type { Problem } from "../errors.js";
import { gotText } from "./got-text.js";
import { type Finding, isWithin, type Path, pathText, valueAt } from "./job-findings.js";
import { type GivenFlag, mergeFlags, numberFrom } from "./merge-flags.js";
import { type JobFile, jobSchema } from "./schema/job-schema.js";
import { memorySize, uuid } from "./schema/shapes.js";

/** The result of a check: the job file, or all problems. */
interface CheckedJob {
  readonly file: JobFile | undefined;
  readonly unknownKeys: readonly Finding[];
  readonly wrongValues: readonly Finding[];
}

interface Leaf {
  readonly path: Path;
  readonly issue: v.BaseIssue<unknown>;
}

/**
 * Checks a job file after its variables were filled in. `written`: the same document before that. Messages quote its values,
 * so that nothing from the environment leaks.
 */
export function checkJob(document: unknown, written: unknown): CheckedJob {
  const result = v.safeParse(jobSchema, document);
  const leaves = (result.issues ?? []).flatMap((issue) => leavesOf(issue, []));
  const unknownKeys = leaves.filter(({ issue }) => issue.expected === "never");
  const wrongValues = leaves.filter(({ issue }) => issue.expected !== "never");
  return {
    file: result.success ? result.output : undefined,
    unknownKeys: unknownKeys.map(({ path, issue }) => ({ path, message: issue.message })),
    wrongValues: onceEach(wrongValues).map(({ path, issue }) => ({
      path,
      message: `got ${gotText(valueAt(written, path), path)}, expected ${issue.message}`,
    })),
  };
}

/**
 * Returns the innermost issues of an issue. If a value may have one of several shapes, it drops the shapes that do not match
 * at all, and returns the issues inside the others.
 */
function leavesOf(issue: v.BaseIssue<unknown>, above: Path): readonly Leaf[] {
  const path = [...above, ...(issue.path ?? []).map(({ key }) => (typeof key === "number" ? key : String(key)))];
  const inside = (issue.issues ?? []).flatMap((inner) => leavesOf(inner, path));
  const deeper = inside.filter((leaf) => leaf.path.length > path.length);
  return deeper.length > 0 ? deeper : [{ path, issue }];
}

/** Removes repeats: the steps of one check (a number, whole, within limits) share one expectation. */
function onceEach(leaves: readonly Leaf[]): readonly Leaf[] {
  return [...new Map(leaves.map((leaf) => [JSON.stringify([leaf.path, leaf.issue.message]), leaf])).values()];
}

/** Flags that name a service and how to ask it, unchecked. */
export interface ServiceFlags {
  readonly to?: unknown;
  readonly keyEnv?: unknown;
  readonly allowHttp?: unknown;
  readonly concurrency?: unknown;
  readonly maxRps?: unknown;
  readonly caFile?: unknown;
}

const soundJob = {
  name: "flags",
  service: { base_url: "https://kb.example.com/v1" },
  datasets: [{ id: "00000000-0000-4000-8000-000000000000", documents: "all" }],
};

/** Checks the flags of a command without a job, by the rules of the job file. `addressFlag`: the flag for the base URL. */
export function checkServiceFlags(flags: ServiceFlags, addressFlag = "--to"): readonly Problem[] {
  const all: readonly GivenFlag[] = [
    { flag: addressFlag, path: ["service", "base_url"], value: flags.to },
    { flag: "--key-env", path: ["service", "api_key_env"], value: flags.keyEnv },
    { flag: "--allow-http", path: ["service", "allow_http"], value: flags.allowHttp },
    { flag: "--concurrency", path: ["service", "concurrency"], value: numberFrom(flags.concurrency) },
    { flag: "--max-rps", path: ["service", "max_rps"], value: numberFrom(flags.maxRps) },
    { flag: "--ca-file", path: ["service", "ca_file"], value: flags.caFile },
  ];
  const given = all.filter(({ value }) => value !== undefined);
  const document = mergeFlags(soundJob, given);
  return checkJob(document, document).wrongValues.map(({ path, message }) => ({
    path: given.find((flag) => isWithin(path, flag.path))?.flag ?? pathText(path),
    message,
  }));
}

/** Checks that the ids given by a flag are UUIDs. */
export function checkIds(flag: string, ids: readonly string[]): readonly Problem[] {
  return ids.flatMap((id) => {
    const { issues } = v.safeParse(uuid, id);
    return issues ? [{ path: flag, message: `got ${gotText(id, [])}, expected ${issues[0].message}` }] : [];
  });
}

/** Checks `--memory` by the rule for `output.memory`. */
export function checkMemory(given: unknown): readonly Problem[] {
  const { issues } = v.safeParse(memorySize, given);
  if (issues === undefined) return [];
  return [{ path: "--memory", message: `got ${JSON.stringify(given)}, expected ${issues[0].message}` }];
}
