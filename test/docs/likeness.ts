/** Replaces values that differ between runs and machines: ids, times, durations, sizes, ports, widths. */
function withoutChance(text: string): string {
  return text
    .replace(/\b\d{8}T\d{9}Z\b/g, "RUN")
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "ID")
    .replace(/\b[\d.,]+ (k|M|G)?B\b/g, "SIZE")
    .replace(/\b[\d.]+ (ms|s|min|h|d)\b( [\d.]+ (s|min|h)\b)?/g, "TIME")
    .replace(/(?<=127\.0\.0\.1:)\d+/g, "PORT")
    .replace(/[ \t]+/g, " ")
    .replace(/ $/gm, "");
}

/**
 * Makes a pattern for the real output from the output that a page shows. Each line must match, except for values that
 * differ between runs. `…` matches any text in a line; on its own line, it matches any number of lines.
 */
export function outputLike(shown: string): { readonly pattern: RegExp; readonly plain: (printed: string) => string } {
  const lines = withoutChance(shown.trimEnd()).split("\n");
  const parts = lines.map((line) => (line === "…" ? "(?:.*\n)*?" : `${line.split("…").map(escaped).join(".*")}\n`));
  return { pattern: new RegExp(`^${parts.join("")}$`), plain: (printed) => `${withoutChance(printed.trimEnd())}\n` };
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

/**
 * Compares JSON on a page with real JSON and returns the first difference in structure; undefined if there is none. At
 * the top level both need the same keys; below, the page may omit some. Null matches anything; lists are compared by
 * their first items.
 */
export function shapeProblem(shown: unknown, real: unknown, path = "$"): string | undefined {
  if (shown === null || real === null) return undefined;
  if (Array.isArray(shown) !== Array.isArray(real) || typeof shown !== typeof real)
    return `${path} is another type than ${JSON.stringify(real)?.slice(0, 80)}`;
  if (Array.isArray(shown) && Array.isArray(real))
    return shown.length > 0 && real.length > 0 ? shapeProblem(shown[0], real[0], `${path}[0]`) : undefined;
  if (typeof shown !== "object" || typeof real !== "object" || !shown || !real) return undefined;
  const [ours, theirs] = [new Map(Object.entries(shown)), new Map(Object.entries(real))];
  const unknown = [...ours.keys()].find((key) => !theirs.has(key) && theirs.size > 0);
  if (unknown !== undefined) return `${path}.${unknown} does not exist`;
  const missing = path === "$" ? [...theirs.keys()].find((key) => !ours.has(key)) : undefined;
  if (missing !== undefined) return `${path}.${missing} is missing`;
  for (const [key, value] of ours) {
    const problem = theirs.has(key) ? shapeProblem(value, theirs.get(key), `${path}.${key}`) : undefined;
    if (problem !== undefined) return problem;
  }
  return undefined;
}
