import leven from "leven";

/** Says what to do about a key that is not known here: the nearest known name, or all of them. Never shows its value. */
export function unknownKeyText(key: unknown, known: readonly string[]): string {
  const name = String(key).slice(0, 100);
  if (isNamedLikeKey(name))
    return "the key itself is never in the file: use api_key_env, api_key_file or api_key_command";
  const nearest = nearestName(name, known);
  return nearest ? `unknown key; did you mean ${nearest}?` : `unknown key; expected one of ${known.join(", ")}`;
}

function isNamedLikeKey(name: string): boolean {
  return /^(api|access|auth|bearer|secret)?(key|token|password|secret|authorization)$/.test(plain(name));
}

function nearestName(name: string, known: readonly string[]): string | undefined {
  const ranked = known.map((candidate) => ({ candidate, distance: leven(plain(name), plain(candidate)) }));
  const [best] = ranked.sort((a, b) => a.distance - b.distance);
  return best && best.distance <= Math.max(1, Math.floor(best.candidate.length / 3)) ? best.candidate : undefined;
}

/** Base-url, baseUrl and base_url are the same slip of the same name. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[-_ ]/g, "");
}
