import { createRequire } from "node:module";
import { basename, extname } from "node:path";
import type * as yaml from "yaml";
import type { LineCounter, YAMLError } from "yaml";
import { type Problem, UsageError } from "../errors.js";
import { escapeControls, fileText } from "../safe-text.js";
import { isMapping } from "../schema.js";
import { type Finding, isWithin, type Path, pathText, valueAt } from "./job-findings.js";
import { batchFlag, type GivenFlag, type JobFlags, mergeFlags, overridingFlags, sourceFlags } from "./merge-flags.js";
import { defaultKeyVariable } from "./schema/service-schema.js";
import { interpolate, type Variables } from "./variables.js";

const nameLabel: Label = { path: ["name"], text: "name (taken from the file's name; set name to choose another)" };

/** Removes `notify` from a job file, for commands that send no notifications. */
const silence: GivenFlag = { flag: "", path: ["notify"], value: undefined };

/**
 * Reads a job file, fills in its variables and applies the flags, but does not check it. Throws UsageError if the text is
 * neither YAML nor JSON. A command that sends no notifications ignores `notify` if one of its variables is not set.
 */
export function draftFromFile(
  file: string,
  text: string,
  flags: JobFlags,
  { env, notifies }: { readonly env: Variables["env"]; readonly notifies: boolean },
): Draft {
  const what = `the job file ${fileText(file)}`;
  // An empty file counts as a job without settings, so that the check says what is missing.
  const written = parseJobText(text, what) ?? {};
  const filled = interpolate(written, { env, secrets: keyVariables(written) });
  const isSilent = !notifies && filled.findings.some(({ path }) => isWithin(path, silence.path));
  const unnamed = isMapping(written) && (written.name === undefined || written.name === null);
  const more = [...(isSilent ? [silence] : []), ...(unnamed ? [nameOf(file)] : [])];
  const draft = draftOf({ what, written, filled, more }, flags);
  return unnamed ? { ...draft, labels: [...draft.labels, nameLabel] } : draft;
}

/** The draft of a job that a run recorded, with the flags applied. It has no variables to fill in. */
export function draftFromRecord(what: string, recorded: unknown, flags: JobFlags): Draft {
  return draftOf({ what, written: recorded, filled: { value: recorded, findings: [] }, more: [] }, flags);
}

interface Source {
  readonly what: string;
  readonly written: unknown;
  readonly filled: ReturnType<typeof interpolate>;
  /** Settings that the command makes without a flag. */
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
 * The variables that hold the key. Their values must never become part of a job. `api_key_env: ${NAME}`, a typo for `api_key_env:
 * NAME`, counts too.
 */
function keyVariables(written: unknown): ReadonlySet<string> {
  const named = valueAt(written, ["service", "api_key_env"]);
  return new Set([defaultKeyVariable, ...(typeof named === "string" ? named.split(/\W+/) : [])]);
}

function refuse({ flag, path }: GivenFlag): Problem {
  return { path: flag, message: `only without a job file; set ${pathText(path)} in the file` };
}

function refuseBatch({ flag }: GivenFlag): Problem {
  const instead = "or use --base-url and --dataset instead of the file";
  return {
    path: flag,
    message: `only with a job file of one dataset; set the batches of each dataset in the file, ${instead}`,
  };
}

/** How messages name a setting that did not come from a job file: by the flag that sets it; null if no flag does. */
export interface Label {
  readonly path: Path;
  readonly text: string | null;
}

/** How users know a setting: by its flag or its path in the job file; null if they cannot set it. */
export function settingName(labels: readonly Label[], path: Path): string | null {
  const label = labels.find((candidate) => isWithin(path, candidate.path));
  return label ? label.text : pathText(path);
}

/** An unchecked job from any source. */
export interface Draft {
  /** The source of the job, for errors: `the job file "nightly.yaml"`. */
  readonly what: string;
  readonly document: unknown;
  /** The document before its variables were filled in, which messages may show. */
  readonly written: unknown;
  readonly labels: readonly Label[];
  readonly unset: readonly Finding[];
  /** Errors found before the check: flags that cannot be combined with this source. */
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
  // Pretty errors are off, because they show nearby lines, which may contain a secret.
  prettyErrors: false,
  logLevel: "error",
} as const;

/**
 * Parses YAML 1.2, which includes JSON. Throws UsageError with line and column for bad syntax, duplicate keys, unknown tags,
 * several documents, and excessive nesting or aliases. `what` names the text.
 */
export function parseJobText(text: string, what: string): unknown {
  const value = valueOfJson(text) ?? valueOfYaml(text, what);
  if (!isWithinDepth(value, deepest)) throw tooDeep(what);
  return value;
}

/** Matches every string in JSON, with the colon after it if it is a key. */
const texts = /"(?:[^"\\]|\\.)*"(\s*:)?/g;

/** Parses JSON; undefined for any other text, and for duplicate keys, which JSON.parse ignores. */
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

/** Parses YAML. Loads the library only for the first text that is not valid JSON, because loading takes 60 ms. */
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
    // The library throws ReferenceError for undefined or too many aliases, and RangeError when the stack is full.
    if (error instanceof ReferenceError) throw refusal(what, [{ path: "", message: plainMessage(error) }]);
    if (error instanceof RangeError) throw tooDeep(what);
    throw error;
  }
}

/** Keeps one error of a kind per line, because the first one causes the others. */
function onePerLine(errors: readonly YAMLError[], lines: LineCounter): readonly YAMLError[] {
  const lineOf = ({ pos }: YAMLError) => lines.linePos(pos[0]).line;
  return errors.filter(
    (error, at) =>
      error.code !== "UNEXPECTED_TOKEN" || !errors.slice(0, at).some((one) => lineOf(one) === lineOf(error)),
  );
}

/** Rewords errors of the YAML parser. */
const wordings: Readonly<Record<string, string>> = {
  BAD_INDENT: "wrong indentation, or a [ or { that is not closed",
  DUPLICATE_KEY: "this key occurs a second time",
  MULTIPLE_DOCS: "a second document begins here; a job file holds one",
  NON_STRING_KEY: "this key is not a text",
  RESOURCE_EXHAUSTION: depthText,
  TAB_AS_INDENT: "a tab; indent with blanks",
  TAG_RESOLVE_FAILED: "unknown tag; put a text that begins with ! in quotes",
  UNEXPECTED_TOKEN: "unexpected text; put a value that holds : , # | [ ] { or } in quotes",
};

function problemFrom(error: YAMLError, text: string, lines: LineCounter): Problem {
  const { line, col } = lines.linePos(error.pos[0]);
  const source = text.split(/\r?\n/)[line - 1] ?? "";
  const message = wordings[error.code] ?? plainMessage(error);
  // ${NAME} is plain text in YAML, except inside [ ] and { }, where its brace opens a mapping.
  const hint =
    /^(MISSING_CHAR|UNEXPECTED_TOKEN)$/.test(error.code) && source.includes("${")
      ? `; inside [ ] and { } write "\${NAME}" in quotes`
      : "";
  return { path: `line ${line}, column ${col}`, message: `${message}${hint}` };
}

/** Cuts off the offending text that the library puts at the end of some messages (`Unresolved tag: …`), because it may be a secret. */
function plainMessage({ message }: Error): string {
  return escapeControls(message.replace(/(?<=\S): .*$/s, ""));
}

function tooDeep(what: string): UsageError {
  return refusal(what, [{ path: "", message: depthText }]);
}

function refusal(what: string, problems: readonly Problem[]): UsageError {
  return new UsageError(`${what} is not valid YAML or JSON:`, problems);
}

/**
 * Whether a value is nested at most this deep. Stops at the first branch that is too deep, so that circular aliases end here
 * too.
 */
function isWithinDepth(value: unknown, levels: number): boolean {
  if (levels < 0) return false;
  const children = Array.isArray(value) ? value : isMapping(value) ? Object.values(value) : [];
  return children.every((child) => isWithinDepth(child, levels - 1));
}
