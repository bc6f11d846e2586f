import { countText, numberText } from "../../amounts.js";
import { nameAndId } from "../../words.js";
import { wrapToWidth } from "../display-width.js";
import { type Page, terminalText } from "../text.js";
import { type PlacedRow, placeOf } from "./row-lines.js";

/** Something that is not as it should be: a row, or all of what it is in. */
export interface Trouble {
  /** Id of the document, or of the dataset. */
  readonly id: string;
  readonly row: PlacedRow | null;
  /** The reason as a sentence. */
  readonly reason: string;
  /** The next step; nothing where the reason or a command below says it. */
  readonly next: string;
}

/** Documents or datasets that are shown at the most, and troubles of each. */
export interface MostTroubles {
  readonly documents: number;
  readonly rows: number;
}

/** Renders troubles below their documents or datasets, in the order in which these come up first. `names` has them by id. */
export function renderTroubles(
  title: string,
  troubles: readonly Trouble[],
  most: MostTroubles,
  names: ReadonlyMap<string, string | null>,
  page: Page,
): readonly string[] {
  if (troubles.length === 0) return [];
  const ids = [...new Set(troubles.map(({ id }) => id))];
  const more = ids.length - most.documents;
  return [
    "",
    ...wrapToWidth(title, page.columns).map(page.paint.strong),
    ...ids.slice(0, most.documents).flatMap((id) => {
      const own = troubles.filter((trouble) => trouble.id === id);
      const others = own.length - most.rows;
      return [
        ...wrapToWidth(`  ${nameAndId(names.get(id), terminalText(id, 80))}`, page.columns, "  "),
        ...own.slice(0, most.rows).flatMap((trouble) => renderTrouble(trouble, page)),
        ...(others > 0 ? [`    … and ${countText(others, "other")}: --json lists all`] : []),
      ];
    }),
    ...(more > 0 ? [`  … and ${numberText(more)} more: --json lists all`] : []),
  ];
}

function renderTrouble({ row, reason, next }: Trouble, { paint, columns }: Page): readonly string[] {
  const margin = row === null ? "    " : "      ";
  return [
    ...(row === null ? [] : wrapToWidth(`    ${placeOf(row)}`, columns, "    ")),
    ...wrapToWidth(`${margin}${terminalText(reason, 400)}`, columns, margin),
    ...(next === "" ? [] : wrapToWidth(`      → ${next}`, columns, "        ").map(paint.faint)),
  ];
}
