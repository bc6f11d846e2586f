import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import {
  type Details,
  invalidParam,
  type Knowledge,
  type Listed,
  type ListQuery,
  methodNotAllowed,
  Refusal,
  type StatusQuery,
  UnknownPath,
  unauthorized,
} from "./knowledge.js";

/** A request, as far as its route looks at it. */
export interface Asked {
  /** The variable segment of the path with this name, percent-decoded. */
  readonly id: (name: string) => string;
  readonly query: URLSearchParams;
  readonly accept: string | undefined;
  /** The JSON value of the body. */
  readonly body: () => Promise<unknown>;
  /** The fields and files of a body that is multipart/form-data. */
  readonly form: () => Promise<FormData>;
}

export interface Reply {
  readonly status: number;
  /** The media type; left out where there is no content. */
  readonly type?: string;
  readonly content: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Route {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** The whole path, with a group for each variable segment. */
  readonly path: RegExp;
  readonly reply: (asked: Asked) => Reply | Promise<Reply>;
  /** Whether it needs no key: the links to files carry signatures in its place. */
  readonly isOpen?: boolean;
}

interface RoutesOptions {
  readonly knowledge: Knowledge;
  readonly key: string;
  /** Makes a chunk what is answered. */
  readonly shown: (chunk: Listed) => Listed;
  /** JSON text of an answer. */
  readonly jsonText: (answer: object) => string;
  /** Routes beside those of the interface. */
  readonly more: readonly Route[];
}

/** The HTTP side of the service: paths, key, parameters, envelopes and error bodies. It listens nowhere by itself. */
export function createRoutes({ knowledge, key, shown, jsonText, more }: RoutesOptions): RequestListener {
  const checkKey = keyCheck(key);
  const get = (path: string, read: (asked: Asked) => Promise<object>): Route => ({
    method: "GET",
    path: routePath(`/v1/datasets${path}`),
    reply: async (asked) => ({ status: 200, type: "application/json", content: jsonText(await read(asked)) }),
  });
  const routes = [
    get("", (asked) => listDatasets(knowledge, asked)),
    get("/:dataset", async ({ id }) => knowledge.dataset(id("dataset"))),
    get("/:dataset/metadata", async ({ id }) => knowledge.datasetMetadata(id("dataset"))),
    get("/:dataset/metadata/built-in", async ({ id }) => ({ fields: await knowledge.metadataFields(id("dataset")) })),
    get("/:dataset/documents", (asked) => listDocuments(knowledge, asked)),
    get("/:dataset/documents/:document", (asked) => readDocument(knowledge, asked)),
    get("/:dataset/documents/:document/segments", (asked) => listChunks(knowledge, asked, shown)),
    get("/:dataset/documents/:document/segments/:segment/child_chunks", (asked) => listChildChunks(knowledge, asked)),
    get("/:dataset/documents/:batch/indexing-status", async ({ id }) => ({
      data: await knowledge.indexingStatus(id("dataset"), id("batch")),
    })),
    ...more,
  ].sort((a, b) => variablesIn(a) - variablesIn(b));
  const inOrder = oneAnswerAtATime();
  return async (request, response) => {
    await inOrder(request, response);
    const { status, type, content, headers } = await replyTo(request, routes, checkKey).catch(refusalOf);
    const described = type && { "content-type": type, "content-length": Buffer.byteLength(content) };
    response.writeHead(status, { ...described, ...headers });
    response.end(content);
  };
}

/** Milliseconds in which a client has to read an answer. */
const readingTime = 60_000;

/**
 * Waits until the answer before has left the connection, so that a client that sends many requests and reads nothing takes the memory of
 * one answer. A client that does not read an answer in time loses its connection.
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

/** A path that fits two routes belongs to the one with fewer variable segments: `/datasets/tags` is no dataset. */
function variablesIn({ path }: Route): number {
  return path.source.split("(?<").length;
}

/** A route whose path has a `:name` for each variable segment. */
export function route(method: Route["method"], path: string, reply: Route["reply"]): Route {
  return { method, path: routePath(path), reply };
}

/** The pattern of a path; `:name` stands for any segment that is not empty. */
export function routePath(path: string): RegExp {
  return new RegExp(`^${path.replace(/:(\w+)/g, "(?<$1>[^/]+)")}$`);
}

async function replyTo(
  request: IncomingMessage,
  routes: readonly Route[],
  checkKey: (authorization: string | undefined) => void,
): Promise<Reply> {
  const { url = "", method, headers } = request;
  const [path = ""] = url.split("?", 1);
  const found = routes.filter((route) => route.path.test(path));
  if (found.length === 0) throw new UnknownPath("Not Found");
  const route = found.find((each) => each.method === method);
  if (!route) throw methodNotAllowed(found.map((each) => each.method));
  if (!route.isOpen) checkKey(headers.authorization);
  const segments = route.path.exec(path)?.groups ?? {};
  return route.reply({
    id: (name) => percentDecoded(segments[name] ?? ""),
    query: new URLSearchParams(url.slice(path.length)),
    accept: headers.accept,
    body: () => readJson(request),
    form: () => readForm(request),
  });
}

/** Text that is no percent-encoding stays as it is: it is an unknown id. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function listDatasets(knowledge: Knowledge, { query: asked }: Asked): Promise<object> {
  const query = listQueryFrom(asked);
  const { rows, total } = await knowledge.datasets(query);
  return { data: rows, has_more: hasMore(query, total), limit: query.limit, total, page: query.page };
}

async function listDocuments(knowledge: Knowledge, { id, query: asked }: Asked): Promise<object> {
  const query = statusQueryFrom(asked);
  const { rows, total } = await knowledge.documents(id("dataset"), query);
  return { data: rows, has_more: hasMore(query, total), limit: query.limit, total, page: query.page };
}

async function readDocument(knowledge: Knowledge, { id, query }: Asked): Promise<object> {
  const part = metadataPartFrom(query);
  const details = await knowledge.document(id("dataset"), id("document"));
  const { doc_type, doc_metadata, ...others } = details;
  if (part === "without") return others;
  return part === "only" ? present({ id: details.id, doc_type, doc_metadata }) : details;
}

/** Without the members that are undefined: what is not known is left out. */
function present(details: Details): Details {
  return Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined));
}

async function listChunks(
  knowledge: Knowledge,
  { id, query: asked }: Asked,
  shown: RoutesOptions["shown"],
): Promise<object> {
  const query = statusQueryFrom(asked);
  const { page, limit } = query;
  const { rows, doc_form, total } = await knowledge.chunks(id("dataset"), id("document"), query);
  return { data: rows.map(shown), doc_form, total, has_more: hasMore(query, total), limit, page };
}

async function listChildChunks(knowledge: Knowledge, { id, query: asked }: Asked): Promise<object> {
  const query = listQueryFrom(asked);
  const { page, limit } = query;
  const { rows, total } = await knowledge.childChunks(id("dataset"), id("document"), id("segment"), query);
  return { data: rows, total, total_pages: Math.ceil(total / limit), page, limit };
}

function hasMore({ page, limit }: ListQuery, total: number): boolean {
  return page * limit < total;
}

/** The answer to a request that was refused, or that failed. */
function refusalOf(error: unknown): Reply {
  if (error instanceof UnknownPath) {
    const { message } = error; // the words are ours
    const content = `<!doctype html>\n<title>404 ${message}</title>\n<h1>${message}</h1>\n`;
    return { status: 404, type: "text/html; charset=UTF-8", content };
  }
  if (!(error instanceof Refusal)) {
    const message = error instanceof Error ? error.message : String(error);
    return jsonReply(500, { code: "internal_server_error", message, status: 500 });
  }
  const { code, message, status, allow } = error;
  const headers = { ...(status === 401 && { "www-authenticate": "Bearer" }), ...(allow !== undefined && { allow }) };
  return { ...jsonReply(status, { code, message, status }), headers };
}

/** An answer of plain JSON. */
export function jsonReply(status: number, answer: object): Reply {
  return { status, type: "application/json", content: JSON.stringify(answer) };
}

/** The answer to what was done and has nothing to say. */
export const noContent: Reply = { status: 204, content: "" };

const largestLimit = 100;
const defaultLimit = 20;

/** The page, limit and keyword of a request. Throws a 400 for a page or limit that is no whole number from 1; a limit above 100 is 100. */
function listQueryFrom(query: URLSearchParams): ListQuery {
  return {
    page: wholeNumber("page", query.get("page"), 1),
    limit: Math.min(wholeNumber("limit", query.get("limit"), defaultLimit), largestLimit),
    keyword: query.get("keyword") ?? "",
  };
}

/** The same for chunks and documents, with every `status` of the query: `status=completed&status=error`. */
function statusQueryFrom(query: URLSearchParams): StatusQuery {
  return { ...listQueryFrom(query), statuses: query.getAll("status") };
}

/** Which part of a document is asked for: `metadata=without`, `only` or `all`, which is the default. */
function metadataPartFrom(query: URLSearchParams): "all" | "only" | "without" {
  const part = query.get("metadata") ?? "all";
  if (part === "all" || part === "only" || part === "without") return part;
  throw new Refusal(400, "invalid_metadata", `Invalid metadata value: ${part}`);
}

function wholeNumber(name: string, text: string | null, otherwise: number): number {
  if (text === null) return otherwise;
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < 1 || !Number.isSafeInteger(number)) {
    throw invalidParam(`${name} must be a whole number from 1.`);
  }
  return number;
}

/** Bytes of the largest body that is read. */
const most = 16_000_000;

/** The JSON value of a body. Throws a 400 for anything else, and a 413 for a body that is too large, whose rest is read and dropped. */
async function readJson(request: IncomingMessage): Promise<unknown> {
  return parseJson((await readBytes(request)).toString());
}

/** The fields and files of a body that is multipart/form-data. The same. */
async function readForm(request: IncomingMessage): Promise<FormData> {
  const body = await readBytes(request);
  const headers = { "content-type": request.headers["content-type"] ?? "" };
  return new Response(body, { headers }).formData().catch(() => {
    throw invalidParam("The body is no multipart/form-data.");
  });
}

/** The value of a JSON text. Throws a 400 for anything else. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidParam("The body is no JSON.");
  }
}

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

/** A new key for a service that was started without one. */
export function randomKey(): string {
  return `kbdump-demo-${randomBytes(12).toString("hex")}`;
}

/**
 * A check of Authorization headers against this key. It throws a 401 unless the header is `Bearer <key>`, and takes the
 * same time whichever part of a key is wrong: digests of equal length are compared, not the keys.
 */
function keyCheck(key: string): (authorization: string | undefined) => void {
  const expected = hash("sha256", key, "buffer");
  return (authorization) => {
    const given = /^bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
    if (given === undefined || !timingSafeEqual(hash("sha256", given, "buffer"), expected)) throw unauthorized();
  };
}
