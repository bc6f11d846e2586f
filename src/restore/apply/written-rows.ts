import type { Intent, IntentOutcome } from "./journal-lines.js";

/** A row of the target that writes of a restore made or changed, and what it must be now. */
export interface WrittenRow {
  readonly dataset_id: string;
  readonly document_id: string;
  readonly level: Intent["level"];
  /** Id in the target. */
  readonly id: string;
  /** Id in the older run. */
  readonly old_id: string;
  /** The chunk of a child chunk, in the target. */
  readonly parent_id: string | null;
  readonly is_added: boolean;
  /** Null where only its state was changed. */
  readonly texts_sha256: string | null;
  readonly keywords_sha256: string | null;
  readonly is_disabled: boolean;
  /** False for a chunk that the service could not index, until it is repaired: else it is reported as failed. */
  readonly is_indexed: boolean;
}

type Done = IntentOutcome & { readonly id: string };

/** The rows that writes made or changed, in the order of their first write; of several writes to one row, the later adds to the earlier. */
export function writtenRows(
  intents: readonly Intent[],
  outcomes: ReadonlyMap<number, IntentOutcome>,
): readonly WrittenRow[] {
  const rows = new Map<string, WrittenRow>();
  for (const intent of intents) {
    const outcome = outcomes.get(intent.number);
    if (outcome?.outcome !== "done" || outcome.id === null) continue;
    const name = `${intent.level} ${outcome.id}`;
    rows.set(name, rowAfter(rows.get(name), intent, { ...outcome, id: outcome.id }));
  }
  return [...rows.values()];
}

function rowAfter(before: WrittenRow | undefined, intent: Intent, { id, indexed }: Done): WrittenRow {
  const { dataset_id, document_id, level, action, old_id, parent_id } = intent;
  const isTouched = action === "touch";
  return {
    dataset_id,
    document_id,
    level,
    id,
    old_id,
    parent_id,
    is_added: before?.is_added === true || action === "add",
    texts_sha256: (isTouched ? null : intent.texts_sha256) ?? before?.texts_sha256 ?? null,
    keywords_sha256: intent.keywords_sha256 ?? before?.keywords_sha256 ?? null,
    is_disabled: action === "disable",
    is_indexed: !isTouched && (action === "disable" ? (before?.is_indexed ?? true) : indexed),
  };
}
