import { importGraph } from "./import-graph.js";

/** Everything that an entry of the graph can reach by one arrow or more. */
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

/** The graph as a Mermaid flowchart. An arrow that leads where others lead, too, by a longer way, is left out. */
export function drawImports(): string {
  const arrows = Object.entries(importGraph).flatMap(([node, targets]) => {
    const others = (target: string) => targets.filter((other) => other !== target);
    const shown = targets.filter((target) => !others(target).some((other) => reachedFrom(other).has(target)));
    return shown.map((target) => `  ${node} --> ${target}`);
  });
  return ["flowchart TD", ...arrows].join("\n");
}
