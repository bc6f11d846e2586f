import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import type { StoredDataset } from "../../../src/demo/rows.js";
import { startService } from "../../../src/demo/start-service.js";
import { type WriteOptions, writableKnowledge } from "../../servers/writable/writable-knowledge.js";

/** A request as received. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  /** The content type; empty if there is none. */
  readonly type: string;
}

/**
 * The outcome of a request. `lost`: the service executes it, but the connection closes without an answer. `cut`: the connection
 * closes, and the service never receives it. `late`: the connection closes, and the service executes it after this many other
 * requests. A status: the service refuses it; with `isDone`, it does so after executing it.
 */
export type Fault =
  | "lost"
  | "cut"
  | { readonly late: number }
  | {
      readonly status: number;
      readonly message: string;
      readonly code?: string;
      readonly retryAfter?: number;
      readonly isDone?: boolean;
    };

export interface FlakyOptions extends WriteOptions {
  readonly clock: () => Date;
  /** Called for every request, in order of arrival, and decides its fault. `write`: how many writes arrived so far. Undefined: no fault. */
  readonly faultOf?: (seen: Seen, write: number) => Fault | undefined | Promise<Fault | undefined>;
}

/** The embedded service behind a proxy that loses answers. */
export async function startFlaky(datasets: readonly StoredDataset[], options: FlakyOptions) {
  const { clock, faultOf = () => undefined, ...writes } = options;
  const demo = writableKnowledge(datasets, clock, writes);
  const service = await startService({ demo });
  const seen: Seen[] = [];
  const late: { left: number; readonly request: Seen }[] = [];
  const forward = ({ method, path, body, type }: Seen) =>
    fetch(new URL(path, service.url), {
      method,
      headers: { authorization: `Bearer ${service.key}`, ...(type === "" ? {} : { "content-type": type }) },
      ...(body === "" ? {} : { body }),
    });
  const doLate = async () => {
    for (const one of late) one.left--;
    const due = late.filter(({ left }) => left <= 0);
    for (const { request } of due) await forward(request);
    late.splice(0, late.length, ...late.filter(({ left }) => left > 0));
  };

  const underWay: string[] = [];
  const most = { all: 0, document: 0 };
  const begin = (path: string) => {
    const document = path.split("/")[5] ?? "";
    underWay.push(document);
    most.all = Math.max(most.all, underWay.length);
    most.document = Math.max(most.document, underWay.filter((each) => each === document).length);
    return () => void underWay.splice(underWay.indexOf(document), 1);
  };

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = "", url: path = "", headers } = request;
    const one = { method, path, body: await bodyOf(request), type: headers["content-type"] ?? "" };
    seen.push(one);
    const end = one.method === "GET" ? () => {} : begin(one.path);
    await doLate();
    const fault = one.method === "GET" ? await faultOf(one, 0) : await faultOf(one, writesOf(seen).length);
    response.on("close", end);
    if (typeof fault === "object" && "status" in fault) {
      const { status, message, code = "invalid_param", retryAfter, isDone = false } = fault;
      if (isDone) await forward(one);
      const headers = retryAfter === undefined ? {} : { "retry-after": `${retryAfter}` };
      return void response.writeHead(status, headers).end(JSON.stringify({ code, message, status }));
    }
    if (typeof fault === "object") late.push({ left: fault.late, request: one });
    const answered = fault === undefined || fault === "lost" ? await forward(one) : undefined;
    if (fault !== undefined || !answered) return void request.socket.destroy();
    response.writeHead(answered.status, { "content-type": "application/json" }).end(await answered.text());
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => request.socket.destroy()); // the test has ended
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await service.close();
  });
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    key: service.key,
    store: demo.store,
    /** All requests so far. */
    seen,
    /** The largest number of simultaneous writes, in total and in one document. */
    most,
    /** All requests except GET, such as `POST …/segments`, with their bodies. */
    writes: () =>
      writesOf(seen).map(({ method, path, body }) => ({ what: `${method} ${shortOf(path)}`, body: jsonOf(body) })),
    /** Sends a write that is in no journal, as from another user. */
    byOthers: async (method: string, path: string, body?: unknown) => {
      const text = body === undefined ? "" : JSON.stringify(body);
      const { ok, status } = await forward({ method, path: `/v1${path}`, body: text, type: "" });
      if (!ok) throw new Error(`${method} ${path} answered ${status}`);
    },
  };
}

export type Flaky = Awaited<ReturnType<typeof startFlaky>>;

function writesOf(seen: readonly Seen[]): readonly Seen[] {
  return seen.filter(({ method }) => method !== "GET");
}

/** The part of the path after the document. */
function shortOf(path: string): string {
  return path.replace(/^.*?\/documents\/[^/]+/, "…").replace(/00000000-0000-4000-8000-0*/g, "#");
}

/** The parsed JSON body; null if there is none. */
function jsonOf(body: string) {
  return body.startsWith("{") ? JSON.parse(body) : null;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}
