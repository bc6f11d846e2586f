import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A request for a file, as the store saw it. */
export interface AskedFile {
  readonly url: string;
  readonly authorization: string | undefined;
  readonly headers: IncomingMessage["headers"];
}

export interface FileStore {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly asked: AskedFile[];
  /** The answer of each path (without its query); 404 for all others. It may be changed while it runs. */
  readonly files: Map<string, (response: ServerResponse, nth: number) => void>;
  /** Answers everything else; 404 by default. */
  fallback: (request: IncomingMessage, response: ServerResponse) => void;
}

/** Starts a server of files, closed when the test is over. */
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

/** Answers bytes, whole. */
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

/** Sends some bytes of more that it announces, and closes the connection. */
export const brokenFile =
  (bytes: string, announced: number) =>
  (response: ServerResponse): void => {
    response.writeHead(200, { "content-length": String(announced) });
    response.write(bytes, () => response.socket?.end()); // what was written arrives, as no reset overtakes it
  };
