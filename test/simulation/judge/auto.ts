import type { ChildLists } from "../../../src/dump/manifest.js";
import type { Coverage } from "./coverage.js";
import type { Evidence } from "./evidence.js";
import type { Complain } from "./judge.js";

/** Checks that the counts of child lists are right, and that only lists that `auto` may skip were skipped. */
export function checkAuto(evidence: Evidence, wrong: Complain, coverage: Coverage): void {
  const { row, outcome, index } = evidence;
  const lists = outcome.through?.reading.documents[index]?.childLists ?? undefined;
  const { childChunks } = outcome.scenario.job;
  const isReported = row.status !== "failed" && childChunks !== "none";
  if (isReported !== (lists !== undefined)) wrong(`of its child lists it says ${JSON.stringify(lists)}`);
  if (!lists) return;
  checkCounts(evidence, lists, wrong);
  checkAsked(evidence, lists, wrong);
  if (childChunks === "auto") count(evidence, lists, coverage);
}

/**
 * Checks the counts. Lists may be skipped only in text documents without children, and taken from chunks only if chunks embed their
 * children.
 */
function checkCounts({ row, outcome, shape }: Evidence, lists: ChildLists, wrong: Complain): void {
  const { asked, embedded, skipped } = lists;
  const { job } = outcome.scenario;
  if (asked + embedded + skipped !== row.chunk_count) wrong(`${asked} + ${embedded} + ${skipped} lists are told of`);
  if (skipped > 0 && (shape.form !== "text_model" || row.child_chunk_count > 0)) wrong(`${skipped} lists are skipped`);
  if (embedded > 0 && !shape.embeds) wrong(`${embedded} lists are taken from chunks that embed none`);
  if (skipped + embedded > 0 && job.childChunks === "all") wrong("not every list was asked for");
}

/** Checks `asked`: without interruptions and edits, it is exactly the number of requested lists. */
function checkAsked({ row, outcome, first, last }: Evidence, { asked }: ChildLists, wrong: Complain): void {
  const { calls, lives, service, scenario } = outcome;
  const edited = service.history.isEdited(row.document_id, first, last);
  const readings = scenario.job.consistency === "counts" ? 1 : 2;
  if (row.status !== "complete" || row.sweeps > readings || lives > 1 || edited) return;
  const chunks = new Set(calls.ofDocument(row.document_id).flatMap(({ list }) => list?.chunk ?? []));
  if (chunks.size !== asked) wrong(`${chunks.size} child lists were asked for, it says ${asked}`);
}

function count({ row, outcome, first, last }: Evidence, { embedded, skipped }: ChildLists, coverage: Coverage): void {
  coverage.met(`auto: ${skipped > 0 ? "skipped" : embedded > 0 ? "embedded" : "asked"}`);
  if (row.status !== "complete" || skipped + embedded === 0) return;
  if (outcome.lives > 1) coverage.met("auto: fewer lists, resumed");
  const edited = outcome.service.history.isEdited(row.document_id, first, last);
  if (edited && embedded > 0) coverage.met("auto: embedded while edited");
}
