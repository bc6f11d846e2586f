import { createServer, type Server } from "node:http";
import type { DemoKnowledge } from "./demo-knowledge.js";
import type { Knowledge } from "./knowledge.js";
import { createRoutes, randomKey } from "./routes.js";
import { sampleKnowledge } from "./sample/sample-knowledge.js";

const host = "127.0.0.1";

export interface ServiceOptions {
  /** 0, the default, takes a free port. */
  readonly port?: number;
  /** The key that every request must carry; a random one by default. */
  readonly key?: string;
  /** The data to serve, read-only. */
  readonly knowledge?: Knowledge;
  /** The data to serve where no `knowledge` is given, with the routes that it brings; the sample data by default. */
  readonly demo?: Pick<DemoKnowledge, "reads" | "routes">;
  /** The time of the sample data. */
  readonly clock?: () => Date;
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
 * to do when the port cannot be had.
 */
export async function startService(options: ServiceOptions = {}): Promise<RunningService> {
  const { port = 0, key = randomKey(), clock = () => new Date(), jsonText = JSON.stringify, knowledge } = options;
  const { reads, routes } = knowledge ? { reads: knowledge, routes: [] } : (options.demo ?? sampleKnowledge(clock));
  const server = createServer(createRoutes({ knowledge: reads, more: routes, key, jsonText }));
  const boundPort = await listen(server, port);
  return { url: `http://${host}:${boundPort}/v1`, key, close: () => close(server) };
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
