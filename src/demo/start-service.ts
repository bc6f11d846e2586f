import { createServer, type Server } from "node:http";
import type { DemoKnowledge } from "./demo-knowledge.js";
import type { Knowledge, Listed } from "./knowledge.js";
import { type OriginalsRelease, originalRoutes, signChunk } from "./originals.js";
import { createRoutes, type Route, randomKey } from "./routes.js";
import { sampleKnowledge } from "./sample/sample-knowledge.js";
import { reindexRoute } from "./store/document-store.js";
import { datasetRoutes } from "./write/datasets.js";
import { documentRoutes } from "./write/documents.js";
import { fileRoutes } from "./write/files.js";
import { metadataRoutes } from "./write/metadata.js";
import { writeRoutes } from "./write/routes.js";
import { tagRoutes } from "./write/tags.js";

const host = "127.0.0.1";

export interface ServiceOptions {
  /** 0, the default, takes a free port. */
  readonly port?: number;
  /** The key that every request must carry; a random one by default. */
  readonly key?: string;
  /** The data to serve, read-only. */
  readonly knowledge?: Knowledge;
  /** The data to serve, with writes and re-indexes, where no `knowledge` is given; the sample data by default. */
  readonly demo?: DemoKnowledge;
  /** The release whose route of originals the demo has; upload-file by default. */
  readonly originals?: OriginalsRelease;
  readonly clock?: () => Date;
  /** Whether links to files are signed again at every read, as the service does; true by default. */
  readonly signs?: boolean;
  /** JSON text of an answer, for rows that JSON.stringify would not write as they are. */
  readonly jsonText?: (answer: object) => string;
}

export interface RunningService {
  /** The base URL with its version segment: `http://127.0.0.1:<port>/v1`. */
  readonly url: string;
  readonly key: string;
  /** Stops listening and cuts the connections that are open, idle or not. May be called again. */
  close(): Promise<void>;
}

/**
 * Starts the embedded knowledge service on loopback and resolves once it answers. Rejects with an error that says what
 * to do when the port cannot be had. Every service has its own batch under way; nothing is shared between two of them.
 */
export async function startService(options: ServiceOptions = {}): Promise<RunningService> {
  const { port = 0, key = randomKey(), clock = () => new Date() } = options;
  const { signs = true, jsonText = JSON.stringify } = options;
  const shown = signs ? (chunk: Listed) => signChunk(chunk, clock()) : (chunk: Listed) => chunk;
  const server = createServer(createRoutes({ ...contents(options, clock, shown), key, shown, jsonText }));
  const boundPort = await listen(server, port);
  return { url: `http://${host}:${boundPort}/v1`, key, close: () => close(server) };
}

/** A knowledge that is given alone is read-only. */
function contents(
  { knowledge, demo, originals = "upload-file" }: ServiceOptions,
  clock: () => Date,
  shown: (chunk: Listed) => Listed,
): { readonly knowledge: Knowledge; readonly more: readonly Route[] } {
  if (knowledge) return { knowledge, more: [] };
  const writable = demo ?? sampleKnowledge(clock);
  return { knowledge: writable.reads, more: demoRoutes(writable, shown, originals) };
}

async function listen(server: Server, port: number): Promise<number> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, resolve);
    });
  } catch (cause) {
    throw new Error(`the service cannot listen on ${host}:${port}: ${hintFor(cause)}`, { cause });
  }
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : port;
}

function hintFor(cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  if (code === "EADDRINUSE")
    return "the port is taken; stop what listens there, or choose another (0 takes a free one)";
  if (code === "EACCES") return "the port needs more rights; choose one from 1024 up (0 takes a free one)";
  return `${cause instanceof Error ? cause.message : cause}; choose a port from 1024 to 65535 (0 takes a free one)`;
}

async function close(server: Server): Promise<void> {
  if (!server.listening) return;
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** Every route that a knowledge in memory has beside the reads. `shown` makes a chunk what is answered. */
function demoRoutes(
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
