import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { type DemoKnowledge, demoKnowledge } from "../../../src/demo/demo-knowledge.js";
import type { Asked, Reply, Route } from "../../../src/demo/routes.js";
import type { StoredDataset } from "../../../src/demo/rows.js";
import { outlines } from "../../../src/demo/sample/outlines.js";
import { buildDataset } from "../../../src/demo/sample/sample-knowledge.js";
import { datasetRoutes } from "./datasets.js";
import { documentRoutes } from "./documents.js";
import { type FailingOptions, FailingWrites } from "./failing-writes.js";
import { fileRoutes } from "./files.js";
import { metadataRoutes, withMetadata } from "./metadata.js";
import { withSignedAnswer, withSignedLinks } from "./sign-links.js";
import { tagRoutes } from "./tags.js";
import { type UploadedFiles, uploadRoute } from "./uploads.js";
import { WritableStore } from "./writable-store.js";

/** The sample data, with all writes and all files. */
export function writableSample(clock: () => Date, options: WriteOptions = {}): WritableKnowledge {
  return writableKnowledge(
    outlines.map((outline) => buildDataset(outline, clock)),
    clock,
    options,
  );
}

/** How the service handles writes. */
export interface WriteOptions extends FailingOptions {
  /** Milliseconds from a write to its answer. Default 0. */
  readonly delay?: number;
  /** Additional milliseconds for each added chunk. Default 0. */
  readonly embeddingMilliseconds?: number;
  /** The embedding models that a dataset may have, the default first. Default: any model. */
  readonly embeddingModels?: readonly string[] | null;
  /** Seconds to index a new document. Default 0.2. */
  readonly indexingTime?: number;
  /** Whether indexing a document with this name fails. Default: never. */
  readonly indexingFails?: (name: string) => boolean;
  /** Whether a dataset accepts documents of several forms, like releases before 1.9. Default: no. */
  readonly mixedForms?: boolean;
  /** The id of the next dataset, document, field, tag or file. Default: random. */
  readonly newId?: () => string;
}

/** The state for all writes except those to chunks. */
export interface Place {
  readonly store: WritableStore;
  readonly files: UploadedFiles;
  readonly options: Required<Omit<WriteOptions, keyof FailingOptions | "delay" | "embeddingMilliseconds">>;
}

export interface WritableKnowledge extends DemoKnowledge {
  readonly store: WritableStore;
}

/**
 * The demo's knowledge base, extended by writes to datasets, documents, metadata, tags and files. A write takes effect immediately, and
 * then its answer is delayed.
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
  const reads = withSignedLinks(withMetadata(demo.reads, store), store);
  const signed = demo.routes.map((each) => withSignedAnswer(each, store));
  const routes = [...more, ...fileRoutes(reads, store), ...signed].map((route) => slowed(route, options));
  return { ...demo, store, reads, routes };
}

/** A route that answers like the given one, but with a delay if it writes. */
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

/** The number of chunks that a write added. */
function addedBy({ content }: Reply): number {
  const { data }: { readonly data?: unknown } = content === "" ? {} : JSON.parse(String(content));
  return Array.isArray(data) ? data.length : 0;
}
