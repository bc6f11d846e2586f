import { createServer, type IncomingMessage } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { onTestFinished } from "vitest";
import { pairOf } from "./certificates.js";

export interface TestProxy {
  /** `http://127.0.0.1:…`, without user and password. */
  readonly url: string;
  /** `127.0.0.1:…` */
  readonly host: string;
  /** The requested targets of tunnels, as host and port, in order. */
  readonly tunnels: readonly string[];
  /** The headers of every request to the proxy. */
  readonly headers: readonly IncomingMessage["headers"][];
  /** The number of open connections, and the maximum so far. */
  readonly open: () => number;
  readonly mostOpen: () => number;
}

export interface ProxyBehaviour {
  /** The required `user:password`. */
  readonly login?: string;
  /** A status: refuse everything with it. `hang`: never answer. `close` and `reset`: end the connection that way. */
  readonly refusal?: number | "hang" | "close" | "reset";
  /** The name of the proxy's certificate, if clients connect to it over TLS. */
  readonly certificate?: string;
}

/**
 * Starts a proxy for one test on a free port of 127.0.0.1. It only supports CONNECT. It connects every host name to the given local
 * port, so tests can use names that do not exist.
 */
export async function startProxy(
  toPort: number,
  { login, refusal, certificate }: ProxyBehaviour = {},
): Promise<TestProxy> {
  const [tunnels, headers]: [string[], IncomingMessage["headers"][]] = [[], []];
  const sockets = new Set<Socket>();
  let mostOpen = 0;
  const expected = login === undefined ? undefined : `Basic ${Buffer.from(login).toString("base64")}`;
  const statusFor = (asked: IncomingMessage) => {
    headers.push(asked.headers);
    if (refusal !== undefined) return refusal;
    return expected !== undefined && asked.headers["proxy-authorization"] !== expected ? 407 : 200;
  };
  const server = certificate === undefined ? createServer() : createTlsServer(pairOf(certificate));
  server.on("request", (_, response) => response.writeHead(405).end());
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    mostOpen = Math.max(mostOpen, sockets.size);
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("connect", (asked: IncomingMessage, socket: Duplex) => {
    tunnels.push(asked.url ?? "");
    socket.on("error", () => {});
    const status = statusFor(asked);
    if (status === "hang") return;
    if (status === "close") return void socket.destroy();
    if (status === "reset") return void (socket instanceof Socket && socket.resetAndDestroy());
    if (status !== 200) return void socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`);
    const onward = connect(toPort, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      onward.pipe(socket).pipe(onward);
    });
    onward.on("error", () => socket.destroy()).on("close", () => socket.destroy());
    socket.on("close", () => onward.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${certificate === undefined ? "http" : "https"}://${host}`,
    host,
    tunnels,
    headers,
    open: () => sockets.size,
    mostOpen: () => mostOpen,
  };
}
