import { casesNamed, nameOf, startUpName } from "./case-names.js";
import { type Case, fullCases, quickCases } from "./cases.js";

/** The lines to measure. */
export interface Choice {
  readonly cases: readonly Case[];
  readonly startUp: boolean;
}

/** Chooses lines by `--only`. If there is no such line, throws an error that lists all names. */
export function chooseLines(quick: boolean, only?: string): Choice {
  const all = quick ? quickCases : fullCases;
  if (only === undefined) return { cases: all, startUp: true };
  const cases = casesNamed(all, only);
  const startUp = only === startUpName;
  if (cases.length > 0 || startUp) return { cases, startUp };
  const names = [...all.map(nameOf), startUpName].map((name) => `  ${name}`);
  const place = quick ? "The quick bench" : "The bench";
  throw new Error(`${place} has no line ${JSON.stringify(only)}. Its lines:\n${names.join("\n")}`);
}
