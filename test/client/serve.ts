import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { pairOf } from "../servers/certificates.js";

export interface Served {
  /** The base URL; it ends in `/v1`. */
  readonly url: string;
  /** All requests so far, in order of arrival. */
  readonly requests: readonly IncomingMessage[];
}

/** A server for one test on a free port of 127.0.0.1. With a name, it serves TLS with the key and certificate of that name. */
export async function serve(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  certificate?: string,
): Promise<Served> {
  const requests: IncomingMessage[] = [];
  const listener: RequestListener = (request, response) => {
    requests.push(request);
    answer(request, response);
  };
  const server = certificate ? createTlsServer(pairOf(certificate), listener) : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `${certificate ? "https" : "http"}://127.0.0.1:${port}/v1`, requests };
}

/** Answers 200 with this value as JSON. */
export function json(value: unknown): (request: IncomingMessage, response: ServerResponse) => void {
  return (_, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
  };
}

/** A base URL whose port refuses connections. */
export async function deadUrl(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}/v1`;
}
