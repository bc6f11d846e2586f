import type { Dump } from "../dump/open-dump.js";
import { StopError } from "../errors.js";
import type { RowPair } from "./proof-pairs.js";
import type { RowDifference } from "./result.js";

/** A chunk or child chunk. */
export interface ProvedRow {
  readonly id: string;
  readonly position: number | null;
}

/** Explains how a row differs from the expected one; null: it does not. */
export interface RowRules<Row> {
  readonly pair: (old: Row, live: Row, isMoved: boolean) => string | null;
  /** For a row that no longer exists. */
  readonly gone: (old: Row) => string | null;
  /** For a row that did not exist before. */
  readonly fresh: (live: Row) => string | null;
}

/** Judges the pairs of rows of one level. A difference has the id and position of the old row, otherwise of the live row. */
export async function* findDifferences<Row extends ProvedRow>(
  level: RowDifference["level"],
  pairs: AsyncIterable<RowPair<Row>>,
  rules: RowRules<Row>,
): AsyncGenerator<RowDifference> {
  for await (const pair of pairs) {
    const row = pair.old ?? pair.live;
    const reason = reasonOf(pair, rules);
    if (row && reason !== null) yield { level, id: row.id, position: row.position, reason };
  }
}

function reasonOf<Row>({ old, live, isMoved }: RowPair<Row>, rules: RowRules<Row>): string | null {
  if (old && live) return rules.pair(old, live, isMoved);
  if (old) return rules.gone(old);
  return live && rules.fresh(live);
}

/** `it differs in text and state`; null without flaws. */
export function differsIn(flaws: Readonly<Record<string, boolean>>): string | null {
  const found = Object.keys(flaws).filter((name) => flaws[name]);
  return found.length > 0 ? `it differs in ${found.join(" and ")}` : null;
}

/** Throws StopError if a document of the service could not be read completely: then it cannot be compared. */
export function refuseUnread({ manifest }: Pick<Dump, "manifest">): void {
  const unread = manifest.documents.filter(({ status }) => status !== "complete");
  const sentences = unread.map(({ document_id, status, error }) => `${document_id}: ${error ?? status}`);
  if (unread.length > 0) throw notProved("documents could not be read completely", sentences);
}

export function notProved(reason: string, sentences: readonly string[]): StopError {
  const lines = [`nothing was proved, as ${reason} at the service:`, ...sentences.map((sentence) => `  ${sentence}`)];
  return new StopError([...lines, "run the same command again"].join("\n"));
}
