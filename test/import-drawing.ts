import { importGraph } from "./import-graph.js";

/** All entries of the graph that a node reaches over one or more arrows. */
function reachedFrom(node: string): ReadonlySet<string> {
  const reached = new Set<string>();
  const queue = [...(importGraph[node] ?? [])];
  for (const next of queue) {
    if (reached.has(next)) continue;
    reached.add(next);
    queue.push(...(importGraph[next] ?? []));
  }
  return reached;
}

/** The graph as a Mermaid flowchart, without arrows that a longer path already implies. */
export function drawImports(): string {
  const arrows = Object.entries(importGraph).flatMap(([node, targets]) => {
    const others = (target: string) => targets.filter((other) => other !== target);
    const shown = targets.filter((target) => !others(target).some((other) => reachedFrom(other).has(target)));
    return shown.map((target) => `  ${node} --> ${target}`);
  });
  return ["flowchart TD", ...arrows].join("\n");
}
