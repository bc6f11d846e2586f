const consistencies = ["sweeps", "anchored", "counts"] as const;

/**
 * Counts documents that were edited while they were read, a line for each consistency: how many were said complete,
 * unstable and failed, and the rows of the complete ones that are lost and invented; then all other counts.
 */
export function movingText(counts: ReadonlyMap<string, number>): string {
  const lines = consistencies.map((consistency) => {
    const count = (what: string) => counts.get(`${consistency}: ${what}`) ?? 0;
    const names = ["complete", "unstable", "failed", "lost", "invented", "lost, beyond the promise"];
    return `${consistency}: ${names.map((name) => `${count(name)} ${name}`).join(" · ")}`;
  });
  const others = [...counts].filter(([what]) => !consistencies.some((name) => what.startsWith(`${name}:`)));
  return [...lines, ...others.sort().map(([what, count]) => `  ${count} ${what}`)].join("\n");
}
