import { escapeControls } from "../safe-text.js";
import { isMapping } from "../schema.js";

/** A path in a job file: `["datasets", 0, "id"]`. */
export type Path = readonly (string | number)[];

/** A problem in a job file, before its path is converted to text. */
export interface Finding {
  readonly path: Path;
  readonly message: string;
}

/** Whether `path` equals `ancestor` or is below it. */
export function isWithin(path: Path, ancestor: Path): boolean {
  return path.length >= ancestor.length && ancestor.every((key, depth) => path[depth] === key);
}

/**
 * Joins lists of findings, the most helpful list first. Drops a finding if an earlier list already names its path or a parent,
 * because the details of a wrong value do not matter.
 */
export function joinFindings(...lists: readonly (readonly Finding[])[]): readonly Finding[] {
  let joined: readonly Finding[] = [];
  for (const list of lists) {
    const earlier = joined;
    joined = earlier.concat(list.filter(({ path }) => !earlier.some((one) => isWithin(path, one.path))));
  }
  return joined;
}

/** Converts a path to text: `datasets[0].documents[2]`. Unusual keys are quoted. */
export function pathText(path: Path): string {
  return path.map(stepText).join("").replace(/^\./, "");
}

function stepText(key: string | number): string {
  if (typeof key === "number") return `[${key}]`;
  return /^[\w-]{1,60}$/.test(key) ? `.${key}` : `[${quotedText(key)}]`;
}

/** Converts a string to JSON that is safe to print: invisible characters are escaped, and long text is truncated. */
export function quotedText(text: string, longest = 60): string {
  const characters = [...text.slice(0, 2 * (longest + 1))];
  const cut = characters.length > longest ? `${characters.slice(0, longest).join("")}…` : text;
  return escapeControls(JSON.stringify(cut));
}

/** Converts a file name to printable text, without truncation. */
export function fileText(file: string): string {
  return quotedText(file, Number.POSITIVE_INFINITY);
}

const hidden = "a value that is not shown";
/** Users put the key in these settings by mistake, so their wrong values are not shown. */
const besideKeys: ReadonlySet<unknown> = new Set(["api_key_env", "api_key_file", "api_key_command"]);

/**
 * Describes the value at `path` for an error message. It uses the value before variables are filled in, and leaks no secret:
 * nothing from the environment, no misplaced key or password, no notification address.
 */
export function gotText(value: unknown, path: Path): string {
  if (value === undefined) return "nothing";
  if (isSecret(value, path)) return hidden;
  if (typeof value === "string") {
    return hasVariable(value) ? `${quotedText(value)} (filled in from the environment)` : quotedText(value);
  }
  if (Array.isArray(value)) return value.length > 0 ? "a list" : "[]";
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0 ? "a mapping" : "{}";
  return String(value);
}

function isSecret(value: unknown, path: Path): boolean {
  const name = path.findLast((key) => typeof key === "string");
  if (typeof value !== "string") return typeof value === "number" && besideKeys.has(name);
  if (looksLikeKey(value)) return true;
  if (path[0] === "notify") return !/^(\$\{\w+\})?$/.test(value);
  if (name === "base_url") return /[@?#]/.test(value);
  return besideKeys.has(name) && !/^(\$\{\w+\})?$/.test(value);
}

/** Whether a text contains what looks like a key of the service. Such a text must not be printed or used as a name. */
export function looksLikeKey(text: string): boolean {
  return /\bdataset-[A-Za-z0-9]{16,}/.test(text);
}

/** The value at a path of a document; undefined if there is none. */
export function valueAt(document: unknown, path: Path): unknown {
  return path.reduce(child, document);
}

function child(parent: unknown, key: string | number): unknown {
  if (typeof key === "number") return Array.isArray(parent) ? parent[key] : undefined;
  return isMapping(parent) && Object.hasOwn(parent, key) ? parent[key] : undefined;
}

/** A value with its variables filled in, and the variables that are missing. */
interface Interpolated {
  readonly value: unknown;
  readonly findings: readonly Finding[];
}

/** Where variables come from. */
export interface Variables {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Names that are never filled in, because they hold the key. */
  readonly secrets: ReadonlySet<string>;
}

const reference = /\$\$\{|\$\{(?:([A-Za-z_][A-Za-z0-9_]*)\})?/g;

/**
 * Replaces `${NAME}` with the variable in every string of a document, at any depth. `$${` stands for a literal `${`; keys stay
 * unchanged. An unset variable stays as it is and is a finding; an empty one is allowed.
 */
export function interpolate(value: unknown, variables: Variables, path: Path = []): Interpolated {
  if (typeof value === "string") return interpolateText(value, variables, path);
  if (Array.isArray(value)) {
    const items = value.map((item, index) => interpolate(item, variables, [...path, index]));
    return { value: items.map((item) => item.value), findings: items.flatMap((item) => item.findings) };
  }
  if (isMapping(value)) {
    const entries = Object.entries(value).map(
      ([key, item]) => [key, interpolate(item, variables, [...path, key])] as const,
    );
    return {
      value: Object.fromEntries(entries.map(([key, item]) => [key, item.value])),
      findings: entries.flatMap(([, item]) => item.findings),
    };
  }
  return { value, findings: [] };
}

/** Whether `interpolate` would find a variable in this text. */
export function hasVariable(text: string): boolean {
  return [...text.matchAll(reference)].some(([whole]) => whole !== "$${");
}

function interpolateText(text: string, { env, secrets }: Variables, path: Path): Interpolated {
  const messages: string[] = [];
  const value = text.replace(reference, (whole: string, name: string | undefined) => {
    if (whole === "$${") return "${";
    const found = name !== undefined && Object.hasOwn(env, name) && !secrets.has(name) ? env[name] : undefined;
    if (found === undefined) messages.push(problemWith(name, secrets));
    return found ?? whole;
  });
  return { value, findings: [...new Set(messages)].map((message) => ({ path, message })) };
}

function problemWith(name: string | undefined, secrets: ReadonlySet<string>): string {
  if (name === undefined)
    return `expected a name and } after \${, as in \${NAME}; write $\${ for the two characters themselves`;
  if (secrets.has(name)) return `${name} holds the key, which is never part of a job; its name belongs in api_key_env`;
  return `${name} is not set in the environment`;
}
