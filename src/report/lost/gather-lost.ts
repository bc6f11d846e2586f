import { withRunDiff } from "../../diff/diff-runs.js";
import { readRun } from "../../diff/read-run.js";
import type { ChunkChange, RunDiff } from "../../diff/run-diff.js";
import type { Dump } from "../../dump/open-dump.js";
import type { ReadTally } from "../../read-tally.js";
import { documentKey } from "../../rows/document-row.js";
import type { NameFolder } from "../commands.js";
import { type LostFacts, mostCards, type RestoreFacts } from "../lost-facts.js";
import { changedDocuments } from "./changed-documents.js";
import { cardFrom } from "./lost-cards.js";
import { commandsFor, type LostCommands } from "./lost-commands.js";
import { type LostRow, lostRowFrom, rowKey } from "./lost-row.js";
import { type PlannedRestore, type PlanSetting, planRestore } from "./plan-restore.js";
import { readLostRows } from "./read-lost-rows.js";

export interface LostSetting extends PlanSetting {
  /** Updated while the work goes on. */
  readonly tally: ReadTally;
  /** Names folders in commands; undefined: by their paths. */
  readonly nameFolder?: NameFolder | undefined;
}

/**
 * Compares the run folder `older` with `newer`, and plans what `restore --lost` would bring back. The texts of one document at a time
 * are in the memory of Node. UsageError when a path is no run folder, StopError when a file is not as its run wrote it or a run has no
 * file to compare.
 */
export async function gatherLost(older: string, newer: string, setting: LostSetting): Promise<LostFacts> {
  const { content, tally } = setting;
  const [run, { dump: fresh }] = [await readRun(older), await readRun(newer)];
  const old = run.dump;
  const { diff, byHand, others } = await compare(old, fresh, setting);
  tally.step = "planning the restore";
  const planned = await planRestore(old, fresh, [...byHand, ...others], setting);
  const rows = [...byHand, ...planned.enabled, ...others].slice(0, mostCards);
  tally.step = "reading what was lost";
  const olds = await readLostRows(run, rows, setting);
  const commands = commandsFor(old, fresh, setting.nameFolder);
  const names = new Map(diff.documents.map((document) => [documentKey(document), document]));
  const cards = rows.map((row) => {
    const known = { row, document: names.get(documentKey(row)), old: olds.get(rowKey(row)) };
    return cardFrom({ ...known, outcome: planned.outcomeOf(row) }, commands, content);
  });
  const counts = lostCounts(diff, planned);
  const { job, run_id, finished_at } = old.manifest;
  const warnings = [...new Set([...diff.warnings, ...planned.warnings])];
  return {
    old: { job, run_id, finished_at: Date.parse(finished_at) },
    reindexed: diff.counts.documents.reindexed,
    not_compared: diff.documents.filter(({ state }) => state === "not_compared").length,
    gone: diff.documents.filter(({ state }) => state === "removed").length,
    ...counts,
    documents: changedDocuments(diff.documents, { enabled: planned.enabledCounts, content, query: commands.documents }),
    cards,
    left_out: Math.max(0, counts.lost - cards.length),
    query: commands.diff,
    restore: restoreFacts(planned, counts.lost, commands),
    warnings: content ? warnings : [],
    warning_count: warnings.length,
  };
}

/** The comparison, and the first lost rows of both sorts. */
async function compare(old: Dump, fresh: Dump, { content, memory, signal, tally }: LostSetting) {
  const options = { memory, signal, tally, text: content ? ("lost" as const) : false };
  return withRunDiff(old.folder, fresh.folder, options, async (diff, changes) => {
    const rowsOf = (found: readonly ChunkChange[]): readonly LostRow[] => found.map(lostRowFrom);
    const byHand = rowsOf(await changes.first("lost by hand", mostCards));
    return { diff, byHand, others: rowsOf(await changes.first("lost", mostCards - byHand.length)) };
  });
}

/** A chunk that is enabled again is no difference of texts: the diff does not count it among the lost rows. */
function lostCounts({ counts }: RunDiff, { enabledCounts }: PlannedRestore) {
  const { chunks, child_chunks } = counts;
  const enabled = [...enabledCounts.values()].reduce((sum, each) => sum + each, 0);
  return {
    lost: chunks.lost + child_chunks.lost + enabled,
    lost_by_hand: chunks.lost_by_hand + child_chunks.lost_by_hand + enabled,
  };
}

function restoreFacts({ rows, refused }: PlannedRestore, lost: number, { restore, apply }: LostCommands): RestoreFacts {
  if (rows > 0) return { command: restore, apply, rows, reason: null };
  const none = lost === 0 ? "Nothing was lost." : "No lost row has evidence that a person made it.";
  return { command: null, apply: null, rows: 0, reason: refused ?? none };
}
