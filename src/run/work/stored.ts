import type { PartFacts } from "./part.js";

/** What lies on the disk of one document: how far it is, and its parts as they were then. */
export interface Stored<State> {
  readonly state: State;
  readonly parts: readonly PartFacts[];
}

/** unknown → T, or undefined when it is something else. */
export type Check<T> = (value: unknown) => T | undefined;

/** A stored state with its parts; undefined when the value is none. */
export function storedFrom<State>(value: unknown, check: Check<State>): Stored<State> | undefined {
  if (typeof value !== "object" || value === null || !("state" in value) || !("parts" in value)) return undefined;
  const state = check(value.state);
  if (state === undefined || !Array.isArray(value.parts) || !value.parts.every(isPartFacts)) return undefined;
  return { state, parts: value.parts };
}

/** A name without a folder in it: what lies in the work folder must not lead out of it. */
function isPartFacts(value: unknown): value is PartFacts {
  if (typeof value !== "object" || value === null) return false;
  const { file, bytes, sha256 } = value as Partial<Record<keyof PartFacts, unknown>>;
  return typeof file === "string" && /^[\w.]+$/.test(file) && Number.isSafeInteger(bytes) && typeof sha256 === "string";
}
