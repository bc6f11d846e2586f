import * as v from "valibot";
import type { Finding, Path } from "./finding.js";
import { gotText } from "./got-text.js";
import { type JobFile, jobSchema } from "./schema/job-schema.js";
import { valueAt } from "./value-at.js";

/** A document that was held against the schema: the file where it fits, else everything that does not. */
export interface CheckedJob {
  readonly file: JobFile | undefined;
  readonly unknownKeys: readonly Finding[];
  readonly wrongValues: readonly Finding[];
}

interface Leaf {
  readonly path: Path;
  readonly issue: v.BaseIssue<unknown>;
}

/**
 * Checks a document with its variables filled in. `written` is the same document before that: its values are the ones
 * that messages show, so that nothing of the environment gets out.
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

/** Gives the innermost issues: of a value with several possible shapes, those inside a shape that fits on the outside. */
function leavesOf(issue: v.BaseIssue<unknown>, above: Path): readonly Leaf[] {
  const path = [...above, ...(issue.path ?? []).map(({ key }) => (typeof key === "number" ? key : String(key)))];
  const inside = (issue.issues ?? []).flatMap((inner) => leavesOf(inner, path));
  const deeper = inside.filter((leaf) => leaf.path.length > path.length);
  return deeper.length > 0 ? deeper : [{ path, issue }];
}

/** The steps of one check (a number, a whole one, within bounds) share one expectation, and that is said once. */
function onceEach(leaves: readonly Leaf[]): readonly Leaf[] {
  return [...new Map(leaves.map((leaf) => [JSON.stringify([leaf.path, leaf.issue.message]), leaf])).values()];
}
