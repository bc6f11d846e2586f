import { hash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import {
  type Details,
  invalidParam,
  type Knowledge,
  type Listed,
  type ListQuery,
  Refusal,
  type Slice,
  UnknownPath,
} from "./knowledge.js";

/** A request, as its route sees it. */
export interface Asked {
  /** A variable segment of the path, percent-decoded. */
  readonly id: (name: string) => string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** The body. Rejects with a 413 if it is too large, after reading and dropping the rest. */
  readonly bytes: () => Promise<Buffer>;
}

export interface Reply {
  readonly status: number;
  /** The media type; absent without content. */
  readonly type?: string;
  readonly content: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

const methods = ["GET", "POST", "PATCH", "DELETE"] as const;

export interface Route {
  readonly method: (typeof methods)[number];
  /** The whole path, with a group for each variable segment. */
  readonly path: RegExp;
  readonly reply: (asked: Asked) => Reply | Promise<Reply>;
  /** Whether it needs no key, because links to files carry signatures instead. */
  readonly isOpen?: boolean;
}

/** The data that a service serves. */
export interface Served {
  readonly reads: Knowledge;
  /** More routes, which come before the reads. The first one with a matching method and path is used. */
  readonly routes: readonly Route[];
}

/** Converts an answer to JSON. */
type JsonText = (answer: object) => string;

/** The HTTP side of the service: paths, key, parameters, envelopes and error bodies. It does not listen by itself. */
export function createRoutes(served: Served, key: string, jsonText: JsonText): RequestListener {
  const routes = [...served.routes, ...readRoutes(served.reads, jsonText)];
  const inOrder = oneAnswerAtATime();
  return async (request, response) => {
    await inOrder(request, response);
    const { status, type, content, headers } = await replyTo(request, routes, key).catch(refusalOf);
    const described = type && { "content-type": type, "content-length": Buffer.byteLength(content) };
    response.writeHead(status, { ...described, ...headers });
    response.end(content);
  };
}

/** The read operations. */
function readRoutes(knowledge: Knowledge, jsonText: JsonText): readonly Route[] {
  const get = (path: string, read: (asked: Asked) => Promise<object>): Route =>
    route("GET", `/v1/datasets${path}`, async (asked) => {
      return { status: 200, type: "application/json", content: jsonText(await read(asked)) };
    });
  const list = (path: string, read: (id: Asked["id"], query: ListQuery) => Promise<object>): Route =>
    get(path, ({ id, query }) => read(id, listQueryFrom(query)));
  const document = "/:dataset/documents/:document";
  return [
    list("", async (_id, query) => listing(await knowledge.datasets(query), query)),
    get("/:dataset", async ({ id }) => knowledge.dataset(id("dataset"))),
    get("/:dataset/metadata", async ({ id }) => knowledge.datasetMetadata(id("dataset"))),
    get("/:dataset/metadata/built-in", async ({ id }) => ({ fields: await knowledge.metadataFields(id("dataset")) })),
    list("/:dataset/documents", async (id, query) => listing(await knowledge.documents(id("dataset"), query), query)),
    get(document, async ({ id, query }) =>
      partOf(await knowledge.document(id("dataset"), id("document")), query.get("metadata") ?? "all"),
    ),
    list(`${document}/segments`, async (id, query) => {
      const { rows, doc_form, total } = await knowledge.chunks(id("dataset"), id("document"), query);
      const { page, limit } = query;
      return { data: rows, doc_form, total, has_more: page * limit < total, limit, page };
    }),
    list(`${document}/segments/:segment/child_chunks`, async (id, query) => {
      const { rows, total } = await knowledge.childChunks(id("dataset"), id("document"), id("segment"), query);
      const { page, limit } = query;
      return { data: rows, total, total_pages: Math.ceil(total / limit), page, limit };
    }),
    get("/:dataset/documents/:batch/indexing-status", async ({ id }) => {
      return { data: await knowledge.indexingStatus(id("dataset"), id("batch")) };
    }),
  ];
}

function listing({ rows, total }: Slice<Listed>, { page, limit }: ListQuery) {
  return { data: rows, has_more: page * limit < total, limit, total, page };
}

/** The part of a document's details for `metadata=without`, `only` or `all`. Undefined fields are left out of the JSON. */
function partOf(details: Details, part: string): Details {
  const { doc_type, doc_metadata, ...others } = details;
  if (part === "all") return details;
  if (part === "without") return others;
  if (part === "only") return { id: details.id, doc_type, doc_metadata };
  throw new Refusal(400, "invalid_metadata", `Invalid metadata value: ${part}`);
}

/** The page and filter of a request. Throws a 400 if page or limit is not a whole number from 1. A limit above 100 becomes 100. */
function listQueryFrom(query: URLSearchParams): ListQuery {
  return {
    page: wholeNumber("page", query.get("page") ?? "1"),
    limit: Math.min(wholeNumber("limit", query.get("limit") ?? "20"), 100),
    keyword: query.get("keyword") ?? "",
    statuses: query.getAll("status"),
  };
}

function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= 1 && Number.isSafeInteger(number)) return number;
  throw invalidParam(`${name} must be a whole number from 1.`);
}

/** Milliseconds for a client to read an answer. */
const readingTime = 60_000;

/**
 * Waits until the previous answer has left the connection, so that a client that sends many requests without reading costs the
 * memory of only one answer. A client that is too slow to read loses its connection.
 */
function oneAnswerAtATime(): (request: IncomingMessage, response: ServerResponse) => Promise<unknown> {
  const answers = new WeakMap<Socket, Promise<unknown>>();
  return async ({ socket }, response) => {
    const before = answers.get(socket);
    const isRead = new Promise((resolve) => response.once("close", resolve));
    answers.set(socket, isRead);
    response.once("prefinish", () => {
      const timer = setTimeout(() => socket.destroy(), readingTime).unref();
      isRead.then(() => clearTimeout(timer));
    });
    await before;
  };
}

/** A route. `:name` in its path matches a non-empty variable segment. */
export function route(method: Route["method"], path: string, reply: Route["reply"]): Route {
  return { method, path: new RegExp(`^${path.replace(/:(\w+)/g, "(?<$1>[^/]+)")}$`), reply };
}

async function replyTo(request: IncomingMessage, routes: readonly Route[], key: string): Promise<Reply> {
  const { url = "", method, headers } = request;
  const [path = ""] = url.split("?", 1);
  const found = routes.filter((route) => route.path.test(path));
  if (found.length === 0) throw new UnknownPath("Not Found");
  const route = found.find((each) => each.method === method);
  if (!route) {
    const allow = methods.filter((each) => found.some((route) => route.method === each)).join(", ");
    throw new Refusal(405, "method_not_allowed", "The method is not allowed for the requested URL.", { allow });
  }
  if (!route.isOpen) checkKey(headers.authorization, key);
  const segments = route.path.exec(path)?.groups ?? {};
  return route.reply({
    id: (name) => percentDecoded(segments[name] ?? ""),
    query: new URLSearchParams(url.slice(path.length)),
    headers,
    bytes: () => readBytes(request),
  });
}

/** Invalid percent-encoding stays unchanged, which results in an unknown id. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Maximum bytes of a body. */
const most = 16_000_000;

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request) {
    size += piece.length;
    if (size <= most) pieces.push(piece);
  }
  if (size > most) throw new Refusal(413, "request_entity_too_large", `The body is larger than ${most} bytes.`);
  return Buffer.concat(pieces);
}

/** The answer to a refused or failed request. */
function refusalOf(error: unknown): Reply {
  if (error instanceof UnknownPath) {
    const { message } = error; // our own text, so it needs no escaping
    const content = `<!doctype html>\n<title>404 ${message}</title>\n<h1>${message}</h1>\n`;
    return { status: 404, type: "text/html; charset=UTF-8", content };
  }
  if (!(error instanceof Refusal)) {
    const message = error instanceof Error ? error.message : String(error);
    return jsonReply(500, { code: "internal_server_error", message, status: 500 });
  }
  const { code, message, status, headers } = error;
  return { ...jsonReply(status, { code, message, status }), headers };
}

/** An answer of plain JSON. */
export function jsonReply(status: number, answer: object): Reply {
  return { status, type: "application/json", content: JSON.stringify(answer) };
}

/** The answer to a successful request without content. */
export const noContent: Reply = { status: 204, content: "" };

/**
 * Throws a 401 unless the Authorization header is `Bearer <key>`. Compares digests of equal length, so that the time does not
 * depend on which part of a key is wrong.
 */
function checkKey(authorization: string | undefined, key: string): void {
  const given = /^bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
  if (given && timingSafeEqual(hash("sha256", given, "buffer"), hash("sha256", key, "buffer"))) return;
  throw new Refusal(401, "unauthorized", "Access token is invalid", { "www-authenticate": "Bearer" });
}
