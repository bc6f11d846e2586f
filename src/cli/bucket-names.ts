import { realpathSync } from "node:fs";
import { copiesFolder } from "../dump/run-id.js";
import { UsageError } from "../errors.js";
import { homeFolder } from "../job/s3-url.js";
import { copiesRoot } from "../store/bucket/copies.js";

/** Replaces every path of a copy in a text with the address of the original. */
export type BucketNames = (text: string) => string;

/** Shows copies under the address that users know: `s3://bucket/prefix/nightly/runs/…` instead of a local path. */
export function bucketNames(env: NodeJS.ProcessEnv, home = homeFolder): BucketNames {
  const root = copiesRoot(env, home);
  if (root === undefined) return (text) => text; // there can be no copies
  const roots = [...new Set([root, resolved(root)])].map((path) => path.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const names = copiesFolder("[0-9a-f-]{36}").replace(".", "\\.");
  const copies = new RegExp(`(?:${roots.join("|")})/${names}/s3/([^\\s'"<>:;,)]+)`, "g");
  return (text) => text.replace(copies, "s3://$1");
}

/** The same value, with the folder under the address that users know. */
export function withFolderName<T extends { readonly folder: string }>(value: T, names: BucketNames): T {
  return { ...value, folder: names(value.folder) };
}

/** The same error, with all its texts renamed. */
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
    return path; // the folder does not exist, so there are no copies
  }
}
