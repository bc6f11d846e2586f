import { realpathSync } from "node:fs";
import { copiesFolder } from "../dump/run-id.js";
import { UsageError } from "../errors.js";
import { homeFolder } from "../job/s3-url.js";
import { copiesRoot } from "../store/bucket/copies.js";

/** In a text, replaces the path of every local copy of a bucket file with its `s3://` address. */
export type BucketNames = (text: string) => string;

/** Makes the function that shows `s3://bucket/prefix/nightly/runs/…` instead of the path of a local copy, which users do not know. */
export function bucketNames(env: NodeJS.ProcessEnv, home = homeFolder): BucketNames {
  const root = copiesRoot(env, home);
  if (root === undefined) return (text) => text; // no folder for copies, so no copies
  const roots = [...new Set([root, resolved(root)])].map((path) => path.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const names = copiesFolder("[0-9a-f-]{36}").replace(".", "\\.");
  const copies = new RegExp(`(?:${roots.join("|")})/${names}/s3/([^\\s'"<>:;,)]+)`, "g");
  return (text) => text.replace(copies, "s3://$1");
}

/** The result with the bucket address as its `folder`, if the folder is a local copy. */
export function withFolderName<T extends { readonly folder: string }>(value: T, names: BucketNames): T {
  return { ...value, folder: names(value.folder) };
}

/** Replaces the paths of local copies in all messages of an error. Changes and returns the same error. */
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
    return path; // without the folder, there are no copies
  }
}
