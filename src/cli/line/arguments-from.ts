import type { Command, Option } from "../command.js";
import { isSwitch, type Line } from "./read-line.js";

type Given = string | boolean | readonly string[] | undefined;

/** The arguments of a command from a line that was checked, under the names of its code: `--base-url x` is `baseUrl: "x"`. */
export function argumentsFrom(
  { flags, places }: Line,
  { options, positionals }: Command,
): Readonly<Record<string, Given>> {
  const texts = places.map(({ text }) => text);
  const placed = Object.entries(positionals).map(
    ([name, { array, default: otherwise }], at) => [name, array ? texts.slice(at) : (texts[at] ?? otherwise)] as const,
  );
  const flagged = Object.entries(options).map(([name, option]) => {
    const given = flags.filter((flag) => flag.name === name).map(({ value }) => value);
    return [camelCase(name), given.length > 0 ? valueFrom(given, option) : option.default] as const;
  });
  return Object.fromEntries([...placed, ...flagged]);
}

function valueFrom(given: readonly (string | undefined)[], option: Option): Given {
  if (isSwitch(option)) return given.at(-1) !== "false";
  const texts = given.map((value) => value ?? "");
  return option.array ? texts : texts.at(-1);
}

function camelCase(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
