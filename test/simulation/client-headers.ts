import { createServer, type IncomingHttpHeaders } from "node:http";
import { openHttp } from "../../src/client/open-client.js";

let known: Promise<Readonly<Record<string, string>>> | undefined;

/** The headers that the program sends with every request. Sends one real request to a server, and returns what arrived. */
export function clientHeaders(): Promise<Readonly<Record<string, string>>> {
  known ??= headersOfOneRequest();
  return known;
}

async function headersOfOneRequest(): Promise<Readonly<Record<string, string>>> {
  let headers: IncomingHttpHeaders = {};
  const server = createServer((request, response) => {
    headers = request.headers;
    response.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const http = openHttp({
    baseUrl: `http://127.0.0.1:${port}/v1`,
    key: "dataset-key",
    connections: 1,
    timeout: 30,
    maxBody: 1_000,
    env: {},
    signal: new AbortController().signal,
    onBytes: () => {},
  });
  await http.send({ path: "/datasets", query: [] });
  await http.close();
  server.close();
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
