import { type CommandCandidate, type FlagCandidate, leadingFlags, type Values } from "./candidates.js";

/** The script for zsh: a file `_kbdump` in a folder of its fpath, or read by `source`. */
export function renderZsh(commands: readonly CommandCandidate[]): string {
  const names = commands.map(({ name, meaning }) => `    ${quoted(`${name}:${meaning.replaceAll(":", "\\:")}`)}`);
  return `#compdef kbdump
# zsh completion for kbdump
_kbdump() {
  local curcontext="$curcontext" state line
  local -a commands
  commands=(
${names.join("\n")}
  )
  _arguments -C ${leadingFlags.map(flagSpec).join(" ")} '1: :->command' '*:: :->arguments'
  case $state in
    command) _describe command commands ;;
    arguments)
      case $line[1] in
${commands.map(commandCase).join("\n")}
      esac ;;
  esac
}
if [ "$funcstack[1]" = "_kbdump" ]; then _kbdump "$@"; else compdef _kbdump kbdump; fi`;
}

function commandCase({ name, flags, places }: CommandCandidate): string {
  const placeSpecs = places.map(({ meaning, values }) => quoted(`:${plain(meaning)}:${action(values, false)}`));
  return `        ${name}) _arguments -s ${[...flags.map(flagSpec), ...placeSpecs].map((spec) => `\\\n          ${spec}`).join(" ")} ;;`;
}

/** `'(-o --out)'{-o+,--out=}'[output folder]:out:_files -/'` */
function flagSpec(flag: FlagCandidate): string {
  const { name, letters, value, values, isList } = flag;
  const [long, short] = value === "needed" ? ["=", "+"] : value === "optional" ? ["=-", "-"] : ["", ""];
  const spelled = [...letters.map((letter) => `-${letter}${short}`), `--${name}${long}`];
  const others = isList ? "*" : `(${[...letters.map((letter) => `-${letter}`), `--${name}`].join(" ")})`;
  const argument = value === "none" ? "" : `${value === "optional" ? "::" : ":"}${name}:${action(values, isList)}`;
  const rest = quoted(`[${flag.meaning.replace(/[[\]\\]/g, "\\$&")}]${argument}`);
  return `${quoted(others)}${spelled.length > 1 ? `{${spelled.join(",")}}` : spelled[0]}${rest}`;
}

function action(values: Values, isList: boolean): string {
  if (values === undefined) return " ";
  if ("words" in values) return isList ? `_values -s , value ${values.words.join(" ")}` : `(${values.words.join(" ")})`;
  if (values.files === "folder") return "_files -/";
  return values.files === "job file" ? '_files -g "*.(yaml|yml|json)(-.)"' : "_files";
}

function plain(text: string): string {
  return text.replaceAll(":", "\\:");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
