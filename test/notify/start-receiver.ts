import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface Received {
  readonly method: string;
  /** The request target as sent, with the query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

export interface Receiver {
  /** `http://127.0.0.1:…`, without a path. */
  readonly url: string;
  readonly received: readonly Received[];
  /** The paths of all requests so far, such as `/x/start /x`. */
  readonly paths: () => string;
  /** The status to answer with, or `hang`; tests may change it at any time. */
  answer: (received: Received) => number | "hang";
}

/** Starts a receiver for notifications on a free port of 127.0.0.1; closed when the test ends. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const { method = "", url = "", headers } = request;
    const one = { method, target: url, headers, body };
    received.push(one);
    const status = receiver.answer(one);
    if (status !== "hang") response.writeHead(status, { location: "/elsewhere" }).end("OK");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    paths: () => received.map(({ target }) => target.replace(/\?.*/, "")).join(" "),
    answer: () => 200,
  };
  return receiver;
}
