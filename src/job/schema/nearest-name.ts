import leven from "leven";

/** The known name that a misspelt one most likely stands for: a few letters off, or a part of it; undefined if none is near. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const given = plain(name);
  const ranked = known.map((candidate) => ({ candidate, distance: distanceOf(given, plain(candidate)) }));
  const [best] = ranked.sort((a, b) => a.distance - b.distance);
  if (best && best.distance <= Math.max(1, Math.floor(best.candidate.length / 3))) return best.candidate;
  const parts = known.filter((candidate) => isPart(given, plain(candidate)));
  return parts.length === 1 ? parts[0] : undefined;
}

/** Two letters that changed places are one slip. */
function distanceOf(given: string, candidate: string): number {
  const distance = leven(given, candidate);
  return distance === 2 && sorted(given) === sorted(candidate) ? 1 : distance;
}

function isPart(given: string, candidate: string): boolean {
  const [short, long] = given.length < candidate.length ? [given, candidate] : [candidate, given];
  return short.length >= 3 && long.startsWith(short);
}

function sorted(text: string): string {
  return [...text].sort().join("");
}

/** Base-url, baseUrl and base_url are the same slip of the same name. */
function plain(name: string): string {
  return name.slice(0, 100).toLowerCase().replace(/[-_ ]/g, "");
}
