import { nearestName } from "./nearest-name.js";

/** Says what to do about a key that is not known here: the nearest known name, or all of them. Never shows its value. */
export function unknownKeyText(key: unknown, known: readonly string[]): string {
  const name = String(key).slice(0, 100);
  if (isNamedLikeKey(name))
    return "the key itself is never in the file: use api_key_env, api_key_file or api_key_command";
  const nearest = nearestName(name, known);
  return nearest ? `unknown key; did you mean ${nearest}?` : `unknown key; expected one of ${known.join(", ")}`;
}

/** Whether a name is one under which people give the key itself, such as api_key or --token. */
export function isNamedLikeKey(name: string): boolean {
  const plain = name.slice(0, 100).toLowerCase().replace(/[-_ ]/g, "");
  return /^(api|access|auth|bearer|secret)?(key|token|password|secret|authorization)$/.test(plain);
}
