import { join } from "node:path";
import * as v from "valibot";
import { dumpDifference, rowMembers } from "../../compare/proof/prove.js";
import { restoreFolderOf } from "../../dump/run-id.js";
import { count, listOf, oneOf, orNull, result, text } from "../../schema.js";
import { sharedMembers } from "../result.js";
import type { SessionOptions } from "../session.js";
import { type CopyPlan, copyCounts, copyPlan, documentsIn } from "./copy-plan.js";

/**
 * The outcome of one document. `restored`: all of it is there. `partial`: it is there except for the rows in `failed` or the problem in
 * `reason`. `failed`: it is missing or incomplete. The next command retries documents that are not restored.
 */
const copiedDocument = result({
  dataset_id: text,
  document_id: text,
  document_name: text,
  outcome: oneOf("restored", "partial", "failed"),
  /** The dataset and the document in the service; each is null if it was not made. */
  target_dataset_id: orNull(text),
  target_id: orNull(text),
  failed: v.pipe(listOf(result(rowMembers)), v.description("rows of the dump that were not copied")),
  reason: orNull(text),
});
export type CopiedDocument = v.InferOutput<typeof copiedDocument>;

/** The results of a copy's writes, with the planned documents in order. */
const copied = result({
  documents: listOf(copiedDocument),
  /** Sentences about datasets, settings, fields and tags that could not be made as planned. */
  problems: listOf(text),
  /** Write requests sent, including those of earlier processes of the same copy. */
  writes: count,
});
export type Copied = v.InferOutput<typeof copied>;

/** The result of `copy --json`. Texts may contain anything the service sends. */
export const copyResult = v.pipe(
  result({
    /**
     * `planned`: nothing was written. `proved`: everything is there. `partial`: some documents or rows are missing, or there was no
     * proof. `different`: the proof found unannounced differences.
     */
    status: oneOf("planned", "proved", "partial", "different"),
    ...sharedMembers,
    plan: copyPlan,
    counts: copyCounts,
    applied: v.pipe(orNull(copied), v.description("null if nothing was to be written")),
    differences: v.pipe(orNull(listOf(dumpDifference)), v.description("findings of the proof; null if there was none")),
    proof: v.pipe(orNull(text), v.description("the dump of the documents that were made, which proves them")),
  }),
  v.title("Result of kbdump copy --json"),
);
export type CopyResult = v.InferOutput<typeof copyResult>;

export function statusOf(ended: Pick<CopyResult, "plan" | "applied" | "differences">): CopyResult["status"] {
  const { plan, applied, differences } = ended;
  if (applied === null) return "planned";
  if (differences !== null && differences.length > 0) return "different";
  const isLeftOut = documentsIn(plan).some(({ refused }) => refused !== null);
  return isLeftOut || isIncomplete(applied) || differences === null ? "partial" : "proved";
}

/** Whether running the same command again may help: a document is not restored, or a dataset is not as planned. */
export function isIncomplete({ documents, problems }: Copied): boolean {
  return problems.length > 0 || documents.some(({ outcome }) => outcome !== "restored");
}

/** The result of a copy for its proof. */
export interface AppliedCopy {
  readonly plan: CopyPlan;
  readonly copied: Copied;
  /** Names of tags that could not be bound, by the key of the dataset's plan. The problems report them, and the proof ignores them. */
  readonly missingTags: ReadonlyMap<string, readonly string[]>;
}

/** The checked settings of `copy`. */
export interface CopyOptions extends SessionOptions {
  /** `new`: always a new dataset. An id: that dataset. Undefined: the one in the journal, otherwise a new one. */
  readonly dataset: string | undefined;
  /** Called before the first write to ask whether to execute the plan. Called only with `apply`. */
  readonly confirm: (planned: CopyResult) => Promise<{ readonly go: boolean }>;
}

/** The copy itself. Throws UsageError if it is refused as a whole; BusyError if another restore of the run is active. */
export type CopyRun = (options: CopyOptions) => Promise<CopyResult>;

/**
 * The folder for restores of a run to a service: the journal, and the dumps that prove the result. Its name is host and port, without
 * characters that some file systems refuse.
 */
export function copyFolderOf(runFolder: string, baseUrl: string): string {
  const { host } = new URL(baseUrl);
  return join(restoreFolderOf(runFolder), "to", host.replace(/[^a-z0-9.-]/g, "_"));
}

/** Normalizes a base URL: lower-case host, no default port, no slashes at the end. */
export function plainBaseUrl(url: string): string {
  const plain = URL.canParse(url) ? new URL(url).href : url;
  return plain.replace(/\/+$/, "");
}
