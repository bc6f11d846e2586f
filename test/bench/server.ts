import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Dataset } from "./dataset.js";
import { answering } from "./routes.js";
import type { Served } from "./served.js";

export interface ServeOptions {
  readonly dataset: Dataset;
  /** Milliseconds to wait before each answer. */
  readonly latency: number;
}

/**
 * Serves a dataset on loopback until the process is killed or its parent ends. Prints the port, and answers every message from the
 * parent with a `Served`.
 */
export async function serve({ dataset, latency }: ServeOptions): Promise<void> {
  const counts = { pages: 0, childLists: 0, others: 0 };
  const answerTo = answering(dataset);
  const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
    const { kind, body } = await answerTo(request);
    counts[kind]++;
    const answer = () => {
      if (!body) return response.writeHead(404).end();
      response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
      return response.end(body);
    };
    if (latency > 0) setTimeout(answer, latency);
    else answer();
  });
  process.on("message", () => process.send?.({ ...counts, cpu: ownCpu() } satisfies Served));
  process.on("disconnect", () => process.exit());
  server.listen(0, "127.0.0.1", () => {
    process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
  });
}

function ownCpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
