import { type CommandCandidate, type FlagCandidate, leadingFlags, type Values } from "./candidates.js";

/** The script for bash, 3.2 and later. */
export function renderBash(commands: readonly CommandCandidate[]): string {
  const names = commands.map(({ name }) => name);
  return `# bash completion for kbdump
_kbdump_words() {
  COMPREPLY=($(compgen -W "$1" -- "$cur"))
}
_kbdump_list() { # words that are joined by commas
  COMPREPLY=($(compgen -P "\${cur%"\${cur##*,}"}" -W "$1" -- "\${cur##*,}"))
  compopt -o nospace 2>/dev/null
}
_kbdump_files() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  case $1 in
    file) COMPREPLY=($(compgen -f -- "$cur")) ;;
    folder) COMPREPLY=($(compgen -d -- "$cur")) ;;
    job) COMPREPLY=($(compgen -d -- "$cur"; for end in yaml yml json; do compgen -f -X "!*.$end" -- "$cur"; done)) ;;
  esac
}
_kbdump() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" command="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${COMP_WORDS[i]}" in
      --log-format) ((i++)) ;;
      -*) ;;
      *) command="\${COMP_WORDS[i]}"; break ;;
    esac
  done
  if [[ $cur == "=" ]]; then cur=""
  elif [[ $prev == "=" ]]; then prev="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  COMPREPLY=()
  case "$command:$prev" in
${commands.flatMap(valueCases).join("\n")}
  esac
  case "$command" in
    "")
      if [[ $cur == -* ]]; then _kbdump_words "${spellings(leadingFlags)}"; else _kbdump_words "${names.join(" ")}"; fi ;;
${commands.map(commandCase).join("\n")}
  esac
}
complete -F _kbdump kbdump`;
}

function valueCases({ name, flags }: CommandCandidate): readonly string[] {
  return flags
    .filter(({ value }) => value === "needed")
    .map((flag) => {
      const patterns = [`--${flag.name}`, ...flag.letters.map((letter) => `-${letter}`)];
      return `    ${patterns.map((pattern) => `${name}:${pattern}`).join(" | ")}) ${proposal(flag.values, flag.isList)}return ;;`;
    });
}

function commandCase({ name, flags, places }: CommandCandidate): string {
  const place = proposal(places[0]?.values, false) || "";
  const words = `_kbdump_words "${spellings(flags)}"`;
  return `    ${name})
      if [[ $cur == -* ]]; then ${words}${place === "" ? "" : `; else ${place.slice(0, -2)}`}; fi ;;`;
}

function proposal(values: Values, isList: boolean): string {
  if (values === undefined) return "";
  if ("files" in values) return `_kbdump_files ${values.files.split(" ")[0]}; `;
  return `_kbdump_${isList ? "list" : "words"} "${values.words.join(" ")}"; `;
}

function spellings(flags: readonly FlagCandidate[]): string {
  return flags.flatMap(({ name, letters }) => [`--${name}`, ...letters.map((letter) => `-${letter}`)]).join(" ");
}
