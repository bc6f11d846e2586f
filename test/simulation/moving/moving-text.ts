const consistencies = ["sweeps", "anchored", "counts"] as const;

/**
 * Renders the counts of documents edited during the read, one line per consistency: complete, unstable and failed documents, and lost
 * and invented rows of the complete ones. Then all other counts.
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
