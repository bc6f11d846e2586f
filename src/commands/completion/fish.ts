import { type CommandCandidate, type FlagCandidate, leadingFlags, type Values } from "./candidates.js";

/** The script for fish. */
export function renderFish(commands: readonly CommandCandidate[]): string {
  const leading = leadingFlags.map((flag) => flagLine("__fish_use_subcommand", flag));
  return ["# fish completion for kbdump", "complete -c kbdump -f", ...leading, ...commands.flatMap(commandLines)].join(
    "\n",
  );
}

function commandLines({ name, meaning, flags, places }: CommandCandidate): readonly string[] {
  const within = `__fish_seen_subcommand_from ${name}`;
  const [first] = places;
  const proposed = first && proposal(first.values, false);
  return [
    `complete -c kbdump -n __fish_use_subcommand -a ${name} -d ${quoted(meaning)}`,
    ...(proposed ? [`complete -c kbdump -n ${quoted(within)}${proposed}`] : []),
    ...flags.map((flag) => flagLine(quoted(within), flag)),
  ];
}

function flagLine(condition: string, { name, letters, meaning, value, values, isList }: FlagCandidate): string {
  const short = letters.map((letter) => ` -s ${letter}`).join("");
  const needed = value === "needed" ? ` ${isAnyFile(values) ? "-r" : "-x"}${proposal(values, isList)}` : "";
  return `complete -c kbdump -n ${condition}${short} -l ${name}${needed} -d ${quoted(meaning)}`;
}

function isAnyFile(values: Values): boolean {
  return values !== undefined && "files" in values && values.files === "file";
}

function proposal(values: Values, isList: boolean): string {
  if (values === undefined) return "";
  if ("words" in values) {
    const words = values.words.join(" ");
    return ` -a ${quoted(isList ? `(__fish_append , ${words})` : words)}`;
  }
  if (values.files === "folder") return ` -a ${quoted("(__fish_complete_directories)")}`;
  if (values.files === "file") return " -F";
  return ` -k -a ${quoted("(for end in .yaml .yml .json; __fish_complete_suffix $end; end)")}`;
}

function quoted(text: string): string {
  return `'${text.replace(/['\\]/g, "\\$&")}'`;
}
