import type { ServerResponse } from "node:http";
import { type Context, Hono } from "hono";
import { keyCheck } from "./api-key.js";
import type { Knowledge, ListQuery } from "./knowledge.js";
import { chunkQueryFrom, listQueryFrom } from "./list-query.js";
import { methodNotAllowed, notFound, Refusal } from "./refusal.js";
import { signChunk } from "./sign-links.js";
import { writeJson } from "./write-json.js";

/** What Hono is handed beside each request: where to write the answer. */
interface Env {
  readonly Bindings: { readonly outgoing: ServerResponse };
}

export interface RoutesOptions {
  readonly knowledge: Knowledge;
  readonly key: string;
  readonly clock: () => Date;
}

/** The HTTP side of the service: paths, key, parameters, envelopes and error bodies. It listens nowhere by itself. */
export function createRoutes({ knowledge, key, clock }: RoutesOptions): Hono<Env> {
  const app = new Hono<Env>();
  const checkKey = keyCheck(key);

  const answer = (path: string, read: (c: Context) => Promise<object>): void => {
    app.all(`/v1/datasets${path}`, async (c) => {
      if (c.req.method !== "GET") throw methodNotAllowed();
      checkKey(c.req.header("authorization"));
      return writeJson(c.env.outgoing, await read(c));
    });
  };

  answer("", (c) => listDatasets(knowledge, c));
  answer("/:dataset/documents", (c) => listDocuments(knowledge, c));
  answer("/:dataset/metadata/built-in", (c) => listMetadataFields(knowledge, c));
  answer("/:dataset/documents/:document/segments", (c) => listChunks(knowledge, c, clock()));
  answer("/:dataset/documents/:document/segments/:segment/child_chunks", (c) => listChildChunks(knowledge, c));
  answer("/:dataset/documents/:batch/indexing-status", (c) => readIndexingStatus(knowledge, c));
  app.notFound((c) => c.html("<!doctype html>\n<title>404 Not Found</title>\n<h1>Not Found</h1>\n", 404));
  app.onError(refuse);
  return app;
}

async function listDatasets(knowledge: Knowledge, c: Context): Promise<object> {
  const query = listQueryFrom(c.req);
  const { rows, total } = await knowledge.datasets(query);
  return { data: rows, has_more: hasMore(query, total), limit: query.limit, total, page: query.page };
}

async function listDocuments(knowledge: Knowledge, c: Context): Promise<object> {
  const dataset = uuidFrom(c, "dataset", "Dataset");
  const query = listQueryFrom(c.req);
  const { rows, total } = await knowledge.documents(dataset, query);
  return { data: rows, has_more: hasMore(query, total), limit: query.limit, total, page: query.page };
}

async function listMetadataFields(knowledge: Knowledge, c: Context): Promise<object> {
  return { fields: await knowledge.metadataFields(uuidFrom(c, "dataset", "Dataset")) };
}

async function listChunks(knowledge: Knowledge, c: Context, now: Date): Promise<object> {
  const dataset = uuidFrom(c, "dataset", "Dataset");
  const document = uuidFrom(c, "document", "Document");
  const query = chunkQueryFrom(c.req);
  const { rows, doc_form, total } = await knowledge.chunks(dataset, document, query);
  const data = rows.map((chunk) => signChunk(chunk, now));
  return { data, doc_form, total, has_more: hasMore(query, total), limit: query.limit, page: query.page };
}

async function listChildChunks(knowledge: Knowledge, c: Context): Promise<object> {
  const dataset = uuidFrom(c, "dataset", "Dataset");
  const document = uuidFrom(c, "document", "Document");
  const segment = uuidFrom(c, "segment", "Segment");
  const query = listQueryFrom(c.req);
  const { rows, total } = await knowledge.childChunks(dataset, document, segment, query);
  return { data: rows, total, total_pages: Math.ceil(total / query.limit), page: query.page, limit: query.limit };
}

async function readIndexingStatus(knowledge: Knowledge, c: Context): Promise<object> {
  const dataset = uuidFrom(c, "dataset", "Dataset");
  return { data: await knowledge.indexingStatus(dataset, c.req.param("batch") ?? "") };
}

function hasMore({ page, limit }: ListQuery, total: number): boolean {
  return page * limit < total;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function uuidFrom(c: Context, param: string, what: "Dataset" | "Document" | "Segment"): string {
  const id = c.req.param(param)?.toLowerCase() ?? "";
  if (!uuid.test(id)) throw notFound(what);
  return id;
}

function refuse(error: Error, c: Context): Response {
  if (!(error instanceof Refusal)) {
    return c.json({ code: "internal_server_error", message: error.message, status: 500 }, 500);
  }
  const { code, message, status } = error;
  if (status === 401) c.header("WWW-Authenticate", "Bearer");
  if (status === 405) c.header("Allow", "GET");
  return c.json({ code, message, status }, status);
}
