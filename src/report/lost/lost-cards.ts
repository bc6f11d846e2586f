import type { LostCard, WordPart } from "../lost-facts.js";
import type { NamedDocument } from "../named-document.js";
import { cutWords, mostAnswer, mostContent } from "./cut-words.js";
import { groupWords } from "./group-words.js";
import type { LostCommands } from "./lost-commands.js";
import type { LostRow } from "./lost-row.js";
import type { OldRow } from "./read-lost-rows.js";
import type { RowOutcome } from "./row-outcome.js";

/** All that is known of a lost row. */
export interface KnownRow {
  readonly row: LostRow;
  /** Its document, with the names; undefined where neither run has it. */
  readonly document: NamedDocument | undefined;
  /** Undefined where the older run has no such row. */
  readonly old: OldRow | undefined;
  readonly outcome: RowOutcome;
}

/** The card of a lost row; without `content`, there is no word of its texts on it. */
export function cardFrom(
  { row, document, old, outcome }: KnownRow,
  commands: LostCommands,
  content: boolean,
): LostCard {
  const { dataset_id, document_id, level, loss, id, position, hand } = row;
  const { dataset_name = null, document_name = null } = (content ? document : undefined) ?? {};
  const words = content ? wordsOf(row, old) : { content: [], answer: [] };
  return {
    ...{ dataset_id, document_id, dataset_name, document_name },
    ...{ level, loss, id, position, hand, ...words },
    ...(level === "chunk" && hand === "customized" ? nobody : handOf(hand, old)),
    ...(content ? {} : { by: null }), // a service may send any text for an account
    ...evidenceFor(row, outcome, commands),
  };
}

/** Somebody worked on a child chunk: who and when is known of that alone. */
const nobody = { by: null, at: null };

function handOf(hand: LostRow["hand"], old: OldRow | undefined): Pick<LostCard, "by" | "at"> {
  return hand === null || !old ? nobody : old.hands[hand];
}

/** Texts that the older run alone has are read from their beginnings, and cut already; a chunk that is enabled again still says its own. */
function wordsOf({ loss, text }: LostRow, old: OldRow | undefined): Pick<LostCard, "content" | "answer"> {
  if (loss === "removed" && old) return { content: old.content, answer: old.answer };
  if (loss === "enabled" && old) return { content: unchanged(old.content), answer: unchanged(old.answer) };
  const [content, answer] = [groupWords(text?.content ?? []), groupWords(text?.answer ?? [])];
  return { content: cutWords(content, mostContent), answer: cutWords(answer, mostAnswer) };
}

const unchanged = (parts: readonly WordPart[]) => parts.map((part) => ({ ...part, kind: "same" }) as const);

function evidenceFor(
  { document_id, id }: LostRow,
  { isWritten, reason, canBeChosen }: RowOutcome,
  { restoreDocument, restoreChosen }: LostCommands,
): Pick<LostCard, "command" | "has_evidence" | "reason"> {
  if (isWritten) return { command: restoreDocument(document_id), has_evidence: true, reason: null };
  return { command: canBeChosen ? restoreChosen(document_id, id) : null, has_evidence: false, reason };
}
