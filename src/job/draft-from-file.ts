import { createRequire } from "node:module";
import { basename, extname } from "node:path";
import type * as yaml from "yaml";
import type { LineCounter, YAMLError } from "yaml";
import { type Problem, UsageError } from "../errors.js";
import { escapeControls } from "../safe-text.js";
import { isMapping } from "../schema.js";
import {
  type Finding,
  fileText,
  interpolate,
  isWithin,
  type Path,
  pathText,
  type Variables,
  valueAt,
} from "./findings.js";
import { batchFlag, type GivenFlag, type JobFlags, mergeFlags, overridingFlags, sourceFlags } from "./merge-flags.js";
import { defaultKeyVariable } from "./schema/service-schema.js";

const nameLabel: Label = { path: ["name"], text: "name (taken from the file's name; set name to choose another)" };

/** Takes away what only a run needs. */
const silence: GivenFlag = { flag: "", path: ["notify"], value: undefined };

/**
 * The text of a job file, its variables filled in and the flags put over it, not checked. Throws UsageError where the
 * text is neither YAML nor JSON. A command that sends no notifications does without `notify` if one of its variables is not set.
 */
export function draftFromFile(
  file: string,
  text: string,
  flags: JobFlags,
  { env, notifies }: { readonly env: Variables["env"]; readonly notifies: boolean },
): Draft {
  const what = `the job file ${fileText(file)}`;
  // An empty file is a job with nothing in it: the check then says what is missing.
  const written = parseJobText(text, what) ?? {};
  const filled = interpolate(written, { env, secrets: keyVariables(written) });
  const isSilent = !notifies && filled.findings.some(({ path }) => isWithin(path, silence.path));
  const unnamed = isMapping(written) && (written.name === undefined || written.name === null);
  const more = [...(isSilent ? [silence] : []), ...(unnamed ? [nameOf(file)] : [])];
  const draft = draftOf({ what, written, filled, more }, flags);
  return unnamed ? { ...draft, labels: [...draft.labels, nameLabel] } : draft;
}

/** The draft of a job file that a run recorded, with the flags over it. Nothing in it is a variable to fill in. */
export function draftFromRecord(what: string, recorded: unknown, flags: JobFlags): Draft {
  return draftOf({ what, written: recorded, filled: { value: recorded, findings: [] }, more: [] }, flags);
}

interface Source {
  readonly what: string;
  readonly written: unknown;
  readonly filled: ReturnType<typeof interpolate>;
  /** Members that are set although no flag stands for them. */
  readonly more: readonly GivenFlag[];
}

function draftOf({ what, written, filled, more }: Source, flags: JobFlags): Draft {
  const hasOneDataset = isMapping(written) && Array.isArray(written.datasets) && written.datasets.length === 1;
  const given = [...overridingFlags(flags), ...(hasOneDataset ? batchFlag(flags) : []), ...more];
  return {
    what,
    document: mergeFlags(filled.value, given),
    written: mergeFlags(written, given),
    labels: given.filter(({ flag }) => flag !== "").map(({ flag, path }) => ({ text: flag, path })),
    unset: filled.findings.filter(({ path }) => !given.some((flag) => isWithin(path, flag.path))),
    problems: [...sourceFlags(flags).map(refuse), ...(hasOneDataset ? [] : batchFlag(flags).map(refuseBatch))],
  };
}

function nameOf(file: string): GivenFlag {
  return { flag: "", path: nameLabel.path, value: basename(file, extname(file)) };
}

/**
 * The variables that hold the key: nothing of a job is ever made of their values. With `api_key_env: ${NAME}`, a slip
 * for `api_key_env: NAME`, that is NAME.
 */
function keyVariables(written: unknown): ReadonlySet<string> {
  const named = valueAt(written, ["service", "api_key_env"]);
  return new Set([defaultKeyVariable, ...(typeof named === "string" ? named.split(/\W+/) : [])]);
}

function refuse({ flag, path }: GivenFlag): Problem {
  return { path: flag, message: `only without a job file; set ${pathText(path)} in the file` };
}

function refuseBatch({ flag }: GivenFlag): Problem {
  return { path: flag, message: "only with a job file of one dataset; set the batches of each dataset in the file" };
}

/** A name for a place that did not come from the file's text: the flag that sets it; null where nothing does. */
export interface Label {
  readonly path: Path;
  readonly text: string | null;
}

/** The name that users know a setting by: its flag, or its place in the job file; null where they cannot set it. */
export function settingName(labels: readonly Label[], path: Path): string | null {
  const label = labels.find((candidate) => isWithin(path, candidate.path));
  return label ? label.text : pathText(path);
}

/** A job before it is checked, from whatever source. */
export interface Draft {
  /** The name of the source in an error: `the job file "nightly.yaml"`. */
  readonly what: string;
  readonly document: unknown;
  /** The document before its variables were filled in: what messages may show. */
  readonly written: unknown;
  readonly labels: readonly Label[];
  readonly unset: readonly Finding[];
  /** Errors known before the check: flags that cannot be used with this source. */
  readonly problems: readonly Problem[];
}

const require = createRequire(import.meta.url);
const mostAliases = 100;
const deepest = 20;
const mostProblems = 10;
const depthText = `nested more than ${deepest} levels deep`;

const options = {
  version: "1.2",
  schema: "core",
  resolveKnownTags: false,
  strict: true,
  uniqueKeys: true,
  stringKeys: true,
  // Without: pretty errors show the lines around, and there may be a secret among them.
  prettyErrors: false,
  logLevel: "error",
} as const;

/**
 * Reads YAML 1.2, and so JSON. Throws UsageError with line and column of what is wrong: syntax, a key that stands twice,
 * an unknown tag, more than one document, nesting or aliases without end. `what` names the text.
 */
export function parseJobText(text: string, what: string): unknown {
  const value = valueOfJson(text) ?? valueOfYaml(text, what);
  if (!isWithinDepth(value, deepest)) throw tooDeep(what);
  return value;
}

/** Every text in JSON, with the colon behind it if it is a key. */
const texts = /"(?:[^"\\]|\\.)*"(\s*:)?/g;

/** The value of JSON; undefined for all other text, and where a key stands twice, which JSON.parse does not tell. */
function valueOfJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    const keys = [...text.matchAll(texts)].filter(([, colon]) => colon !== undefined);
    return keys.length === countKeys(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function countKeys(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const inside = Object.values(value).reduce<number>((sum, each) => sum + countKeys(each), 0);
  return inside + (Array.isArray(value) ? 0 : Object.keys(value).length);
}

/** The library waits for the first text that is no JSON: it takes 60 ms to load. */
function valueOfYaml(text: string, what: string): unknown {
  const { LineCounter, parseDocument }: typeof yaml = require("yaml");
  const lines = new LineCounter();
  const document = attempt(what, () => parseDocument(text, { ...options, lineCounter: lines }));
  const errors = [...document.errors, ...document.warnings].sort((a, b) => a.pos[0] - b.pos[0]);
  const problems = onePerLine(errors, lines).map((error) => problemFrom(error, text, lines));
  if (problems.length > 0) throw refusal(what, problems.slice(0, mostProblems));
  return attempt(what, () => document.toJS({ maxAliasCount: mostAliases }));
}

function attempt<Value>(what: string, action: () => Value): Value {
  try {
    return action();
  } catch (error) {
    // The library throws ReferenceError on aliases that lead nowhere or are too many, RangeError when the stack is full.
    if (error instanceof ReferenceError) throw refusal(what, [{ path: "", message: plainMessage(error) }]);
    if (error instanceof RangeError) throw tooDeep(what);
    throw error;
  }
}

/** Text behind unexpected text on the same line is unexpected because of it. */
function onePerLine(errors: readonly YAMLError[], lines: LineCounter): readonly YAMLError[] {
  const lineOf = ({ pos }: YAMLError) => lines.linePos(pos[0]).line;
  return errors.filter(
    (error, at) =>
      error.code !== "UNEXPECTED_TOKEN" || !errors.slice(0, at).some((one) => lineOf(one) === lineOf(error)),
  );
}

/** Words for what the library tells in terms of its grammar. */
const wordings: Readonly<Record<string, string>> = {
  BAD_INDENT: "wrong indentation, or a [ or { that is not closed",
  DUPLICATE_KEY: "this key stands here for the second time",
  MULTIPLE_DOCS: "a second document begins here; a job file holds one",
  NON_STRING_KEY: "this key is not a text",
  RESOURCE_EXHAUSTION: depthText,
  TAB_AS_INDENT: "a tab; indent with blanks",
  TAG_RESOLVE_FAILED: "unknown tag; a text that begins with ! stands in quotes",
  UNEXPECTED_TOKEN: "unexpected text; put a value that holds : , # | [ ] { or } in quotes",
};

function problemFrom(error: YAMLError, text: string, lines: LineCounter): Problem {
  const { line, col } = lines.linePos(error.pos[0]);
  const source = text.split(/\r?\n/)[line - 1] ?? "";
  const message = wordings[error.code] ?? plainMessage(error);
  // ${NAME} is plain text in YAML, but not inside [ ] and { }: there its brace opens a mapping.
  const hint =
    /^(MISSING_CHAR|UNEXPECTED_TOKEN)$/.test(error.code) && source.includes("${")
      ? `; inside [ ] and { } write "\${NAME}" in quotes`
      : "";
  return { path: `line ${line}, column ${col}`, message: `${message}${hint}` };
}

/** The library ends some messages with the text in question (`Unresolved tag: …`); there may be a secret in it. */
function plainMessage({ message }: Error): string {
  return escapeControls(message.replace(/(?<=\S): .*$/s, ""));
}

function tooDeep(what: string): UsageError {
  return refusal(what, [{ path: "", message: depthText }]);
}

function refusal(what: string, problems: readonly Problem[]): UsageError {
  return new UsageError(`${what} is neither YAML nor JSON that can be read:`, problems);
}

/** Stops at the first branch that is too deep, so that an alias to a mapping it stands in ends here, too. */
function isWithinDepth(value: unknown, levels: number): boolean {
  if (levels < 0) return false;
  const children = Array.isArray(value) ? value : isMapping(value) ? Object.values(value) : [];
  return children.every((child) => isWithinDepth(child, levels - 1));
}
