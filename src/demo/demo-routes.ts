import type { DemoKnowledge } from "./demo-knowledge.js";
import type { Listed } from "./knowledge.js";
import { type OriginalsRelease, originalRoutes } from "./originals.js";
import { reindexRoute } from "./reindex/route.js";
import type { Route } from "./routes.js";
import { datasetRoutes } from "./write/datasets/routes.js";
import { documentRoutes } from "./write/documents/routes.js";
import { fileRoutes } from "./write/files/routes.js";
import { metadataRoutes } from "./write/metadata/routes.js";
import { writeRoutes } from "./write/routes.js";
import { tagRoutes } from "./write/tags/routes.js";

/** Every route that a knowledge in memory has beside the reads. `shown` makes a chunk what is answered. */
export function demoRoutes(
  demo: DemoKnowledge,
  shown: (chunk: Listed) => Listed,
  originals: OriginalsRelease,
): readonly Route[] {
  return [
    ...datasetRoutes(demo.datasets),
    ...documentRoutes(demo.documents),
    ...writeRoutes(demo.writes, shown),
    ...metadataRoutes(demo.metadata),
    ...tagRoutes(demo.tags),
    reindexRoute(demo.store),
    ...fileRoutes(demo),
    ...originalRoutes(demo.reads, demo.files, originals),
  ];
}
