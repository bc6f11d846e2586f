import type { Dump } from "../../dump/open-dump.js";
import { type Problem, UsageError } from "../../errors.js";
import { inexactReason } from "../../restore/inexact-reason.js";
import type { Kind } from "../../rows/columns.js";
import type { JournalFacts } from "../journal-facts.js";
import type { MoveFrom } from "../move-plan.js";
import { shownId } from "./ask-target.js";

/** The choices of the owner that a dump and a journal may not allow. */
export interface Wishes {
  readonly documents: readonly string[];
  readonly dataset: string | undefined;
  readonly from: MoveFrom;
  readonly facts: JournalFacts;
}

/** UsageError, with every problem, when a dump as a whole is not fit for a move, or does not have what the owner wishes for. */
export function checkWishes(dump: Dump, wishes: Wishes): void {
  const problems = [...dumpProblems(dump, wishes), ...documentProblems(dump, wishes), ...fromProblems(wishes)];
  if (problems.length > 0) throw new UsageError(`${dump.folder} cannot be restored to another service:`, problems);
}

function dumpProblems(dump: Dump, { from }: Wishes): readonly Problem[] {
  const { counts } = dump.manifest;
  const hasDetails = counts.datasets !== undefined && counts.document_details !== undefined;
  const message = "it has no details: run the job with details: true; a move needs the settings";
  const hasExact = (kinds: readonly Kind[]) => dump.tablesOf(kinds) !== undefined;
  const isExact =
    (!hasDetails || hasExact(["datasets", "document_details"])) &&
    (from === "originals" || hasExact(["chunks", "child_chunks"]));
  return [
    ...(hasDetails ? [] : [{ path: "", message }]),
    ...(isExact ? [] : [{ path: "", message: inexactReason(dump) }]),
  ];
}

function documentProblems({ manifest }: Dump, { documents }: Wishes): readonly Problem[] {
  const there = new Set(manifest.documents.map(({ document_id }) => document_id));
  return documents
    .filter((id) => !there.has(id))
    .map((id) => ({ path: "--document", message: `the run has no document ${shownId(id)}` }));
}

function fromProblems({ from, dataset, facts }: Wishes): readonly Problem[] {
  if (facts.from === null || facts.from === from || dataset === "new") return [];
  const message = `this restore was begun with --from ${facts.from}: go on with that, or make another copy with --dataset new`;
  return [{ path: "--from", message }];
}
