import { looksLikeKey, quotedText } from "../safe-text.js";
import type { Path } from "./job-findings.js";
import { hasVariable } from "./variables.js";

const hidden = "a value that is not shown";
/** Wrong values of these settings are not shown, because users put the key there by mistake. */
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
