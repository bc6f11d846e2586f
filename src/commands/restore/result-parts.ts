import { countText } from "../../amounts.js";
import { type Entry, faint, firstOf, type Part, titled } from "../../cli/outline.js";
import { renderPaths, shortPath } from "../../cli/table.js";
import { messageText, terminalText } from "../../cli/text.js";
import { type DumpDifference, differenceOf, type RowDifference } from "../../compare/proof/prove.js";
import { commandText, type Invocation, withoutOption, withoutSwitches } from "../../shell-text.js";
import { nameAndId } from "../../words.js";

/** A row with its position in the older run. */
type PositionedRow = Pick<RowDifference, "level" | "position" | "id">;

/** The name of a row in titles: `chunk at 12 8c0d1629-…`. */
export function placeOf({ level, position, id }: PositionedRow): string {
  const noun = level === "chunk" ? "chunk" : "child chunk";
  return [noun, position !== null && `at ${position}`, terminalText(id, 80)].filter(Boolean).join(" ");
}

/** `restored: 7 of 7; proved`. `proved`: the text for a proof without findings if rows are missing. */
export function verdictOf(
  { status, differences }: { readonly status: string; readonly differences: readonly object[] | null },
  count: string,
  proved: string,
): Entry {
  const found = `${count} restored, but the proof found ${countText(differences?.length ?? 0, "difference")}`;
  if (status === "proved") return { head: "restored", paint: "good", text: `${count}; proved` };
  if (status === "different") return { head: "different", paint: "bad", text: found };
  const proof = differences === null ? "not proved" : `proved: ${proved}`;
  return { head: "partial", paint: "bad", text: `${count} restored; ${proof}` };
}

/** The paths of the dump and the journal of a restore or a copy, and what they contain. */
export function placesOf(dump: string | null, contents: string, journal: string | null): readonly Part[] {
  const places = [
    ...(dump === null ? [] : [[`${shortPath(dump)}/`, contents] as const]),
    ...(journal === null ? [] : [[shortPath(journal), "every request and its answer"] as const]),
  ];
  return [places.length > 0 && ((page) => renderPaths(places, page.columns))];
}

/** What the user must know before applying a plan. */
export function mustKnow(...sentences: readonly string[]): Entry {
  return { text: "Before you apply it:", below: sentences.map((each) => `- ${each}`) };
}

/** The same command with `--apply`, which writes the plan, and with `more` flags. */
export function applyCommand(invocation: Invocation, ...more: readonly string[]): string {
  return commandText(withoutOption(unapplied(invocation), "against"), [...more, "--apply"]);
}

/** The invocation without the flags that write or change the output. */
export function unapplied(invocation: Invocation): Invocation {
  return withoutOption(withoutSwitches(invocation, ["apply", "yes", "json"]), "plan-out");
}

/** A problem with a row of a document, or with a whole document or dataset. */
export interface Trouble extends DumpDifference {
  /** The next step, unless the reason or a command below says it. */
  readonly next?: string | undefined;
}

/** The documents that a plan refuses. `verdict`: a word to put before each reason. */
export function refusalsIn(
  documents: readonly { readonly document_id: string; readonly refused: string | null }[],
  verdict = "",
): readonly Trouble[] {
  return documents.flatMap(({ document_id, refused }) =>
    refused === null ? [] : [differenceOf("document", document_id, verdict + refused)],
  );
}

/** Troubles below the document or dataset that has them, in order of first appearance. `most`: how many to show of each. */
export function troublesIn(
  title: string,
  troubles: readonly Trouble[],
  names: ReadonlyMap<string, string | null>,
  most: { readonly documents: number; readonly rows: number },
): Part {
  const grouped = [...Map.groupBy(troubles, ({ document_id, id }) => document_id ?? id)];
  const groupOf = ([id, own]: (typeof grouped)[number]) => ({
    text: nameAndId(names.get(id), terminalText(id, 80)),
    below: firstOf(own, most.rows, partOf),
  });
  return titled(title, firstOf(grouped, most.documents, groupOf), "strong");
}

function partOf({ level, id, position, reason, next }: Trouble): Entry {
  const text = messageText(reason, 400);
  const step = next && faint(`→ ${next}`);
  if (level === "dataset" || level === "document") return { text, below: [step] };
  return { text: placeOf({ level, id, position }), below: [text, step] };
}
