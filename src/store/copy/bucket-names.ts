import { realpathSync } from "node:fs";
import { UsageError } from "../../errors.js";
import { homeFolder } from "../../job/s3-url.js";
import { rootFrom } from "./cache.js";

/** Gives a text with every path of a copy replaced by the address of what was copied. */
export type BucketNames = (text: string) => string;

/** A run that is fetched to be proved: see mirror-run.ts. */
const onItsWay = /\.copy\/[0-9a-f-]{36}\/(\d{8}T\d{9}Z)/;

/**
 * Names what lies in the cache as users know it: `s3://bucket/prefix/nightly/runs/…` for the path of its copy. The folders of restores
 * keep their paths, as they are on this machine alone.
 */
export function bucketNames(env: NodeJS.ProcessEnv, home = homeFolder): BucketNames {
  const root = rootFrom(env, home);
  if (root === undefined) return (text) => text; // no cache, so no copies
  const roots = [...new Set([root, resolved(root)])].map((path) => path.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const copies = new RegExp(`(?:${roots.join("|")})/s3/([^\\s'"<>:;,)]+)`, "g");
  return (text) =>
    text.replace(copies, (path, rest: string) =>
      /\/runs\/\d{8}T\d{9}Z\.restore(?:\/|$)/.test(rest) ? path : `s3://${rest.replace(onItsWay, "runs/$1")}`,
    );
}

/** The same with its folder named as the user knows it. */
export function withFolderName<T extends { readonly folder: string }>(value: T, names: BucketNames): T {
  return { ...value, folder: names(value.folder) };
}

/** The error with the same names in all that it says. */
export function withBucketNames(error: unknown, names: BucketNames): unknown {
  if (!(error instanceof Error)) return error;
  const named: { message: string; path?: string; problems?: UsageError["problems"] } = {
    message: names(error.message),
  };
  if ("path" in error && typeof error.path === "string") named.path = names(error.path);
  if (error instanceof UsageError)
    named.problems = error.problems.map(({ path, message }) => ({ path: names(path), message: names(message) }));
  return Object.assign(error, named);
}

function resolved(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // it is not there, so no copy is
  }
}
