import { isMapping } from "../schema.js";
import type { Finding, Path } from "./job-findings.js";

/** A value with its variables filled in, and the variables that are missing. */
interface Interpolated {
  readonly value: unknown;
  readonly findings: readonly Finding[];
}

/** The source of the variables in a job file. */
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
