import { isMapping } from "../schema.js";
import type { Path } from "./finding.js";

/** The value at a place of a document, undefined where there is none. */
export function valueAt(document: unknown, path: Path): unknown {
  return path.reduce(child, document);
}

function child(parent: unknown, key: string | number): unknown {
  if (typeof key === "number") return Array.isArray(parent) ? parent[key] : undefined;
  return isMapping(parent) && Object.hasOwn(parent, key) ? parent[key] : undefined;
}
