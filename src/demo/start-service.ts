import { randomBytes } from "node:crypto";
import { createServer, type Server } from "node:http";
import { StopError } from "../errors.js";
import { createRoutes, type Served } from "./routes.js";
import { sampleKnowledge } from "./sample/sample-knowledge.js";

const host = "127.0.0.1";

export interface ServiceOptions {
  /** Default: 0, a free port. */
  readonly port?: number;
  /** The key that requests must carry; default: a random one. */
  readonly key?: string;
  /** The data to serve, with any routes besides the reads; default: the sample data. */
  readonly demo?: Served;
  /** Converts an answer to JSON, for rows that JSON.stringify would change. */
  readonly jsonText?: (answer: object) => string;
}

export interface RunningService {
  /** The base URL including the version: `http://127.0.0.1:<port>/v1`. */
  readonly url: string;
  readonly key: string;
  /** Stops listening and closes open connections, idle or not. May be called repeatedly. */
  close(): Promise<void>;
}

/**
 * Starts the embedded knowledge service on loopback, and resolves once it answers. If the port is unavailable, rejects with a
 * StopError that says what to do.
 */
export async function startService(options: ServiceOptions = {}): Promise<RunningService> {
  const { port = 0, key = `kbdump-demo-${randomBytes(12).toString("hex")}`, jsonText = JSON.stringify } = options;
  const demo = options.demo ?? sampleKnowledge(() => new Date());
  const server = createServer(createRoutes(demo, key, jsonText));
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
    throw new StopError(`the service cannot listen on ${host}:${port}: ${hintFor(cause)}`, { cause });
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
