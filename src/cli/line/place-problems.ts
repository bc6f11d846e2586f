import type { Problem } from "../../errors.js";
import { gotText } from "../../job/findings.js";
import type { Command, Positional } from "../command.js";
import type { Flag, Place } from "./read-line.js";

/** Problems of the arguments that belong to no flag: one that is missing, one too many. */
export function placeProblems(
  places: readonly Place[],
  command: Command,
  isThere: (path: string) => boolean,
): readonly Problem[] {
  const stray = places.filter((place) => isStray(place, command) && !isThere(place.text));
  if (stray.length > 0) return strayProblems(stray);
  const declared = Object.entries(command.positionals);
  const isOpen = declared.some(([, { array }]) => array);
  if (places.length > declared.length && !isOpen)
    return places.slice(declared.length).map((place) => ({ path: "", message: surplusText(place, command) }));
  return declared
    .slice(places.length)
    .filter(([, { demandOption }]) => demandOption)
    .map(([name, positional]) => ({ path: "", message: `<${name}> is missing: ${missingText(positional, command)}` }));
}

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** Whether an argument was meant for the flag before it, as `parquet` in `--format csv parquet`. */
function isStray({ text, after }: Place, { options }: Command): boolean {
  const option = after?.name === undefined ? undefined : options[after.name];
  if (option?.array !== true) return false;
  const { values } = option;
  return text.split(",").every((one) => (values ? values.includes(one) : uuid.test(one)));
}

function strayProblems(stray: readonly Place[]): readonly Problem[] {
  const flags = new Set(stray.flatMap(({ after }) => after ?? []));
  return [...flags].map((flag) => {
    const more = stray.filter(({ after }) => after === flag).map(({ text }) => text);
    const path = `--${flag.name}`;
    return { path, message: `write ${path} ${[flag.value, ...more].join(",")}` };
  });
}

function surplusText({ text, after }: Place, { name, options }: Command): string {
  const unexpected = `unexpected argument ${gotText(text, [])}`;
  if (wantsEquals(after, options))
    return `${unexpected}; a value of --${after?.name} follows =, as in --${after?.name}=PATH`;
  return `${unexpected}; expected kbdump ${name}`;
}

function wantsEquals(flag: Flag | undefined, options: Command["options"]): boolean {
  return flag?.name !== undefined && flag.value === undefined && options[flag.name]?.valueIsOptional === true;
}

function missingText({ describe }: Positional, { epilog }: Command): string {
  const [example] = /(?<=^ *)kbdump .*$/m.exec(epilog) ?? [];
  return `${describe}${example ? `. Example: ${example}` : ""}`;
}
