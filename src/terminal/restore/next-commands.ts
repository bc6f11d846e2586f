import { countText } from "../../amounts.js";
import { isMissed, type RestorePlan } from "../../compare/lost/restore-plan.js";

import { commandText, type Invocation, withoutOption, withoutSwitches } from "../../shell-text.js";
import { wrapToWidth } from "../display-width.js";
import { type Page, terminalText } from "../text.js";

/** Ids that a command names at the most. */
const mostIds = 20;

/** The command that writes the plan of this one. */
export function applyCommand(invocation: Invocation): string {
  return commandWith(invocation, ["--apply"]);
}

/**
 * The command that plans with the listed rows, too, below its title; nothing where none can be chosen. Those that were certainly
 * made by hand come first. Where there are many, rows without evidence are left out: most of them are rightly gone.
 */
export function chooseLines({ documents }: RestorePlan, invocation: Invocation, { columns }: Page): readonly string[] {
  const rows = documents.flatMap(({ listed }) => listed).filter(({ choice }) => choice !== null);
  const certain = rows.filter(isMissed);
  const isMany = rows.length > mostIds && certain.length > 0;
  const named = isMany ? certain : [...certain, ...rows.filter((row) => !isMissed(row))];
  const ids = named.map(({ id }) => terminalText(id, 80));
  if (ids.length === 0) return [];
  const more = ids.length - mostIds;
  return [
    "",
    ...wrapToWidth("Choose rows that are left alone, by their ids; --json has their whole texts:", columns),
    `  ${commandWith(invocation, ["--chunk", ids.slice(0, mostIds).join(",")], false)}`,
    ...(more > 0 ? [`  … and ${countText(more, "other id")}: --json lists all`] : []),
  ];
}

/** The command once more. The documents as they stand take the place of another run, unless that is kept. */
function commandWith(invocation: Invocation, more: readonly string[], isApplied = true): string {
  const plain = withoutSwitches(invocation, ["apply", "yes", "json"]);
  return commandText(isApplied ? withoutOption(plain, "against") : plain, more);
}
