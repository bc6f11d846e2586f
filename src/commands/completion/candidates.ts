import { type Command, type Files, meaningOf, type Option } from "../../cli/command.js";
import { globalOptions, isSwitch } from "../../cli/read-line.js";

/** The proposals of a shell for a value: files, words, or nothing where any text is right. */
export type Values = { readonly files: Files } | { readonly words: readonly string[] } | undefined;

/** A flag as a shell completes it. */
export interface FlagCandidate {
  readonly name: string;
  readonly letters: readonly string[];
  readonly meaning: string;
  /** optional: behind `=` only. */
  readonly value: "none" | "optional" | "needed";
  readonly values: Values;
  /** A list: its words are joined by commas, and the flag may be repeated. */
  readonly isList: boolean;
}

/** A command as a shell completes it. */
export interface CommandCandidate {
  readonly name: string;
  readonly meaning: string;
  readonly flags: readonly FlagCandidate[];
  readonly places: readonly { readonly meaning: string; readonly values: Values }[];
}

/** The commands as the shells complete them; `help` is one of them. */
export function candidatesFrom(commands: readonly Command[]): readonly CommandCandidate[] {
  const candidates = commands.map(({ name, about, options, positionals }) => ({
    name: name.split(" ")[0] ?? "",
    meaning: about,
    flags: flagsFrom({ ...options, ...globalOptions }),
    places: Object.values(positionals).map((place) => ({ meaning: meaningOf(place), values: valuesOf(place) })),
  }));
  const words = candidates.map(({ name }) => name);
  const help = {
    name: "help",
    meaning: "show the help of a command",
    flags: [],
    places: [{ meaning: "command", values: { words } }],
  };
  return [...candidates, help];
}

/** The flags that stand without a command. */
export const leadingFlags = flagsFrom(globalOptions);

function flagsFrom(options: Readonly<Record<string, Option>>): readonly FlagCandidate[] {
  return Object.entries(options).map(([name, option]) => ({
    name,
    letters: [option.alias ?? []].flat(),
    meaning: meaningOf(option),
    value: isSwitch(option) ? "none" : option.valueIsOptional ? "optional" : "needed",
    values: valuesOf({ ...option, values: option.choices ?? option.values ?? [] }),
    isList: option.array === true,
  }));
}

function valuesOf({ names, values }: { readonly names?: Files; readonly values?: readonly string[] }): Values {
  if (names !== undefined) return { files: names };
  return values !== undefined && values.length > 0 ? { words: values } : undefined;
}
