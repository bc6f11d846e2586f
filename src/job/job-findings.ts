import { quotedText } from "../safe-text.js";
import { isMapping } from "../schema.js";

/** A path in a job file: `["datasets", 0, "id"]`. */
export type Path = readonly (string | number)[];

/** A problem in a job file, before its path is converted to text. */
export interface Finding {
  readonly path: Path;
  readonly message: string;
}

/** Whether `path` equals `ancestor` or is below it. */
export function isWithin(path: Path, ancestor: Path): boolean {
  return path.length >= ancestor.length && ancestor.every((key, depth) => path[depth] === key);
}

/**
 * Joins lists of findings. Give the most helpful list first: a finding is dropped if an earlier list already names its path or
 * a parent, because the details of a wrong value do not matter.
 */
export function joinFindings(...lists: readonly (readonly Finding[])[]): readonly Finding[] {
  let joined: readonly Finding[] = [];
  for (const list of lists) {
    const earlier = joined;
    joined = earlier.concat(list.filter(({ path }) => !earlier.some((one) => isWithin(path, one.path))));
  }
  return joined;
}

/** Converts a path to text: `datasets[0].documents[2]`. Unusual keys are quoted. */
export function pathText(path: Path): string {
  return path.map(stepText).join("").replace(/^\./, "");
}

function stepText(key: string | number): string {
  if (typeof key === "number") return `[${key}]`;
  return /^[\w-]{1,60}$/.test(key) ? `.${key}` : `[${quotedText(key)}]`;
}

/** The value at a path of a document; undefined if there is none. */
export function valueAt(document: unknown, path: Path): unknown {
  return path.reduce(child, document);
}

function child(parent: unknown, key: string | number): unknown {
  if (typeof key === "number") return Array.isArray(parent) ? parent[key] : undefined;
  return isMapping(parent) && Object.hasOwn(parent, key) ? parent[key] : undefined;
}
