import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A service that counts the requests in flight, and when each came. */
export interface CountingService {
  /** The base URL, which ends in `/v1`. */
  readonly url: string;
  readonly arrivals: readonly { readonly at: number; readonly from: string }[];
  /** The most requests in flight since the last `forget`. */
  readonly most: () => number;
  /** The requests in flight now, of one process by its name. */
  readonly of: (from: string) => number;
  readonly forget: () => void;
}

/** Answers every request after so many milliseconds with an empty list. The path of a request names who sends it. */
export async function countInFlight(latency: () => number, status = () => 200): Promise<CountingService> {
  const arrivals: { at: number; from: string }[] = [];
  const inFlight = new Map<string, number>();
  const add = (from: string, count: number) => inFlight.set(from, (inFlight.get(from) ?? 0) + count);
  const total = () => [...inFlight.values()].reduce((sum, count) => sum + count, 0);
  let most = 0;
  const server = createServer((request, response) => {
    const from = /\/datasets\/([^/]+)/.exec(request.url ?? "")?.[1] ?? "";
    arrivals.push({ at: performance.now(), from });
    add(from, 1);
    most = Math.max(most, total());
    setTimeout(() => {
      add(from, -1);
      response.writeHead(status(), { "content-type": "application/json", "retry-after": "1" });
      response.end('{"data":[],"has_more":false,"total":0,"page":1,"limit":20}');
    }, latency());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    arrivals,
    most: () => most,
    of: (from) => inFlight.get(from) ?? 0,
    forget: () => {
      most = total();
    },
  };
}
