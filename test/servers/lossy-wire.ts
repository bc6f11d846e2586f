import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * The proxy's treatment of a request. `pass`: the request and its answer arrive. `lose answer`: the service executes the request, and
 * the connection breaks before the answer arrives. `lose request`: the connection breaks before the request arrives. `refuse`: the
 * proxy answers 503 instead of the service. `late`: the connection breaks, and the request arrives this many milliseconds later. A
 * number: the answer is delayed by this many milliseconds. A status: the service executes the request, but this is the answer.
 */
export type Fate =
  | "pass"
  | "lose answer"
  | "lose request"
  | "refuse"
  | number
  | { readonly late: number }
  | { readonly status: number; readonly body: string };

/** A request that reached the proxy. */
export interface SeenRequest {
  readonly method: string;
  /** The path with the query. */
  readonly path: string;
  readonly body: string;
}

export interface LossyWire {
  /** The address to use instead of the service's. */
  readonly url: string;
  readonly seen: readonly SeenRequest[];
  readonly close: () => Promise<void>;
}

/** Starts a proxy in front of a local service. `fateOf` decides what happens to each request. */
export async function openLossyWire(service: string, fateOf: (request: SeenRequest) => Fate): Promise<LossyWire> {
  const target = new URL(service);
  const seen: SeenRequest[] = [];
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const body = Buffer.concat(await incoming.toArray());
    const { method = "", url: path = "", headers } = incoming;
    const one = { method, path, body: body.toString() };
    seen.push(one);
    const fate = fateOf(one);
    if (fate === "lose request") return incoming.socket.destroy();
    if (fate === "refuse") return outgoing.writeHead(503, { "content-type": "text/html" }).end("<title>busy</title>");
    if (typeof fate === "object" && "late" in fate) {
      incoming.socket.destroy();
      await new Promise((resolve) => setTimeout(resolve, fate.late));
    }
    const passed = request({ host: target.hostname, port: target.port, method, path, headers });
    passed.end(body);
    const [reply]: IncomingMessage[] = await once(passed, "response");
    if (!reply) return incoming.socket.destroy();
    const text = Buffer.concat(await reply.toArray());
    if (fate === "lose answer") return incoming.socket.destroy();
    if (typeof fate === "object" && "status" in fate) return outgoing.writeHead(fate.status).end(fate.body);
    if (typeof fate === "number") await new Promise((resolve) => setTimeout(resolve, fate));
    return outgoing.writeHead(reply.statusCode ?? 500, reply.headers).end(text);
  };
  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch(() => incoming.socket.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port }: AddressInfo = addressOf(server.address());
  return {
    url: `http://127.0.0.1:${port}${target.pathname}`,
    seen,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function addressOf(address: AddressInfo | string | null): AddressInfo {
  if (address === null || typeof address === "string") throw new Error("the server listens nowhere");
  return address;
}
