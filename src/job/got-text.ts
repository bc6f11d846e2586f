import type { Path } from "./finding.js";
import { hasVariable } from "./interpolate.js";
import { looksLikeKey } from "./looks-like-key.js";
import { quotedText } from "./quoted-text.js";

const hidden = "a value that is not shown";
/** Beside these names people put the key by mistake, so what is wrong there is not shown. */
const besideKeys: ReadonlySet<unknown> = new Set(["api_key_env", "api_key_file", "api_key_command"]);

/**
 * Renders what stands in the file at `path`, for an error message. The value is the one before variables are filled in,
 * and no secret gets out: not of the environment, nor a key or a password that was put into the wrong place, nor whom to tell.
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
