import type { Dump } from "../dump/open-dump.js";
import { StopError } from "../errors.js";
import type { RowDifference } from "./result.js";

/** A row of either level. */
export interface ProvedRow {
  readonly id: string;
  readonly position: number | null;
}

/** What to say of a row; null: it is as it should be. */
export interface RowRules<Old, Now> {
  readonly pair: (old: Old, now: Now) => string | null;
  /** Of a row that is not there any more. */
  readonly gone: (old: Old) => string | null;
  /** Of a row that was not there. */
  readonly fresh: (now: Now) => string | null;
}

/** Compares rows with what they should be, by their ids. */
export function compareRows<Old extends ProvedRow, Now extends ProvedRow>(
  level: RowDifference["level"],
  { old, now }: { readonly old: readonly Old[]; readonly now: readonly Now[] },
  rules: RowRules<Old, Now>,
): readonly RowDifference[] {
  const olds = new Map(old.map((row) => [row.id, row]));
  const nows = new Map(now.map((row) => [row.id, row]));
  const differenceOf = ({ id, position }: ProvedRow, reason: string | null) =>
    reason === null ? [] : [{ level, id, position, reason }];
  return [
    ...old.flatMap((row) => {
      const there = nows.get(row.id);
      return differenceOf(row, there ? rules.pair(row, there) : rules.gone(row));
    }),
    ...now.flatMap((row) => (olds.has(row.id) ? [] : differenceOf(row, rules.fresh(row)))),
  ];
}

/** `it differs in text and state`; null where no flaw holds. */
export function differsIn(flaws: Readonly<Record<string, boolean>>): string | null {
  const found = Object.keys(flaws).filter((name) => flaws[name]);
  return found.length > 0 ? `it differs in ${found.join(" and ")}` : null;
}

/** StopError where a document of the service could not be read whole: then nothing can be said of it. */
export function refuseUnread({ manifest }: Pick<Dump, "manifest">): void {
  const unread = manifest.documents.filter(({ status }) => status !== "complete");
  const sentences = unread.map(({ document_id, status, error }) => `${document_id}: ${error ?? status}`);
  if (unread.length > 0) throw notProved("documents could not be read whole", sentences);
}

export function notProved(reason: string, sentences: readonly string[]): StopError {
  const lines = [`nothing was proved, as ${reason} at the service:`, ...sentences.map((sentence) => `  ${sentence}`)];
  return new StopError([...lines, "run the same command again"].join("\n"));
}
