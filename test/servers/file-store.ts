import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A request that the file server received. */
export interface AskedFile {
  readonly url: string;
  readonly authorization: string | undefined;
  readonly headers: IncomingMessage["headers"];
}

export interface FileStore {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly asked: AskedFile[];
  /** Path (without query) → its answer. You can change it while the server runs. */
  readonly files: Map<string, (response: ServerResponse, nth: number) => void>;
  /** Answers all other requests. Default: 404. */
  fallback: (request: IncomingMessage, response: ServerResponse) => void;
}

/** Starts a file server, which closes after the test. */
export async function startFileStore(): Promise<FileStore> {
  const asked: AskedFile[] = [];
  const files: FileStore["files"] = new Map();
  const server = createServer((request, response) => {
    const url = request.url ?? "";
    const [path = ""] = url.split("?");
    asked.push({ url, authorization: request.headers.authorization, headers: request.headers });
    const answer = files.get(path);
    if (answer) answer(response, asked.filter((each) => each.url.split("?")[0] === path).length);
    else store.fallback(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const store: FileStore = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    files,
    fallback: (_, response) => void response.writeHead(404).end("<Error>no such file</Error>"),
  };
  return store;
}

/** An answer that sends all bytes. */
export const file =
  (bytes: string | Buffer, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void => {
    response.writeHead(200, { "content-length": String(Buffer.byteLength(bytes)), ...headers }).end(bytes);
  };

export const redirect =
  (location: string, status = 302) =>
  (response: ServerResponse): void => {
    response.writeHead(status, { location }).end();
  };

/** An answer that sends fewer bytes than announced, and closes the connection. */
export const brokenFile =
  (bytes: string, announced: number) =>
  (response: ServerResponse): void => {
    response.writeHead(200, { "content-length": String(announced) });
    response.write(bytes, () => response.socket?.end()); // ends the connection without a reset, which could overtake the written bytes
  };
