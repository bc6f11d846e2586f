import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { type DemoKnowledge, demoKnowledge } from "../../../src/demo/demo-knowledge.js";
import type { Asked, Reply, Route } from "../../../src/demo/routes.js";
import type { StoredDataset } from "../../../src/demo/rows.js";
import { datasetRoutes } from "./datasets.js";
import { documentRoutes } from "./documents.js";
import { type FailingOptions, FailingWrites } from "./failing-writes.js";
import { metadataOf, metadataRoutes } from "./metadata.js";
import { tagRoutes } from "./tags.js";
import { type UploadedFiles, uploadRoute } from "./uploads.js";
import { WritableStore } from "./writable-store.js";

/** How the service takes writes. */
export interface WriteOptions extends FailingOptions {
  /** Milliseconds from a write to its answer; 0 by default. */
  readonly delay?: number;
  /** Milliseconds that an addition of chunks takes longer for each of them; 0 by default. */
  readonly embeddingMilliseconds?: number;
  /** The embedding models that a dataset may have, the default first; any model by default. */
  readonly embeddingModels?: readonly string[] | null;
  /** Seconds that the indexing of a document takes that is created; 0.2 by default. */
  readonly indexingTime?: number;
  /** Whether the indexing of a document of this name fails. None fails by default. */
  readonly indexingFails?: (name: string) => boolean;
  /** Whether a dataset takes documents of several forms, as releases before 1.9 did; no by default. */
  readonly mixedForms?: boolean;
  /** The id of the next dataset, document, field, tag or file; random by default. */
  readonly newId?: () => string;
}

/** What the writes beyond chunks work on. */
export interface Place {
  readonly store: WritableStore;
  readonly files: UploadedFiles;
  readonly options: Required<Omit<WriteOptions, keyof FailingOptions | "delay" | "embeddingMilliseconds">>;
}

export interface WritableKnowledge extends DemoKnowledge {
  readonly store: WritableStore;
}

/**
 * The knowledge of the demo, extended by the writes to datasets, documents, metadata, tags and files. A write is done at once, before its
 * answer waits for the delay.
 */
export function writableKnowledge(
  stored: readonly StoredDataset[],
  clock: () => Date,
  options: WriteOptions = {},
): WritableKnowledge {
  const store = new WritableStore(stored, clock);
  const demo = demoKnowledge(store, new FailingWrites(store, options));
  const { embeddingModels = null, indexingTime = 0.2, mixedForms = false } = options;
  const { indexingFails = () => false, newId = randomUUID } = options;
  const place = {
    store,
    files: store.files,
    options: { embeddingModels, indexingTime, mixedForms, indexingFails, newId },
  };
  const more = [datasetRoutes, documentRoutes, metadataRoutes, tagRoutes, uploadRoute].flatMap((routes) =>
    routes(place),
  );
  const reads = { ...demo.reads, datasetMetadata: (datasetId: string) => metadataOf(store, datasetId) };
  return { ...demo, store, reads, routes: [...more, ...demo.routes].map((route) => slowed(route, options)) };
}

/** The route, whose answer comes late if it writes. */
function slowed(route: Route, { delay = 0, embeddingMilliseconds = 0 }: WriteOptions): Route {
  if (route.method === "GET" || route.path.test("/demo/reindex/id")) return route;
  const reply = async (asked: Asked): Promise<Reply> => {
    const answer = await route.reply(asked);
    const milliseconds = delay + embeddingMilliseconds * addedBy(answer);
    if (milliseconds > 0) await setTimeout(milliseconds);
    return answer;
  };
  return { ...route, reply };
}

/** The chunks that a write added. */
function addedBy({ content }: Reply): number {
  const { data }: { readonly data?: unknown } = content === "" ? {} : JSON.parse(String(content));
  return Array.isArray(data) ? data.length : 0;
}
