import type { ServerResponse } from "node:http";
import { type Context, Hono } from "hono";
import { keyCheck } from "./api-key.js";
import type { Details, Knowledge, Listed, ListQuery } from "./knowledge.js";
import { listQueryFrom, metadataPartFrom, statusQueryFrom } from "./list-query.js";
import { methodNotAllowed, Refusal, UnknownPath } from "./refusal.js";
import type { DemoKnowledge } from "./reindex/demo-knowledge.js";
import { addReindexRoute } from "./reindex/reindex-route.js";
import { writeJson } from "./write-json.js";

/** What Hono is handed beside each request: where to write the answer. */
interface Env {
  readonly Bindings: { readonly outgoing: ServerResponse };
}

export interface RoutesOptions {
  /** Documents of a demo can be indexed anew. */
  readonly knowledge: Knowledge | DemoKnowledge;
  readonly key: string;
  /** Makes a chunk what is answered. */
  readonly shown: (chunk: Listed) => Listed;
  /** JSON text of an answer. */
  readonly jsonText: (answer: object) => string;
}

/** The HTTP side of the service: paths, key, parameters, envelopes and error bodies. It listens nowhere by itself. */
export function createRoutes({ knowledge, key, shown, jsonText }: RoutesOptions): Hono<Env> {
  const app = new Hono<Env>();
  const checkKey = keyCheck(key);

  const answer = (path: string, read: (c: Context) => Promise<object>): void => {
    app.all(`/v1/datasets${path}`, async (c) => {
      if (c.req.method !== "GET") throw methodNotAllowed();
      checkKey(c.req.header("authorization"));
      return writeJson(c.env.outgoing, jsonText(await read(c)));
    });
  };

  answer("", (c) => listDatasets(knowledge, c));
  answer("/:dataset", async (c) => knowledge.dataset(param(c, "dataset")));
  answer("/:dataset/metadata", async (c) => knowledge.datasetMetadata(param(c, "dataset")));
  answer("/:dataset/documents", (c) => listDocuments(knowledge, c));
  answer("/:dataset/documents/:document", (c) => readDocument(knowledge, c));
  answer("/:dataset/metadata/built-in", (c) => listMetadataFields(knowledge, c));
  answer("/:dataset/documents/:document/segments", (c) => listChunks(knowledge, c, shown));
  answer("/:dataset/documents/:document/segments/:segment/child_chunks", (c) => listChildChunks(knowledge, c));
  answer("/:dataset/documents/:batch/indexing-status", (c) => readIndexingStatus(knowledge, c));
  if ("reindex" in knowledge) addReindexRoute(app, { knowledge, checkKey });
  app.notFound((c) => c.html(unknownPage("Not Found"), 404));
  app.onError(refuse);
  return app;
}

async function listDatasets(knowledge: Knowledge, c: Context): Promise<object> {
  const query = listQueryFrom(c.req);
  const { rows, total } = await knowledge.datasets(query);
  return { data: rows, has_more: hasMore(query, total), limit: query.limit, total, page: query.page };
}

async function listDocuments(knowledge: Knowledge, c: Context): Promise<object> {
  const dataset = param(c, "dataset");
  const query = statusQueryFrom(c.req);
  const { rows, total } = await knowledge.documents(dataset, query);
  return { data: rows, has_more: hasMore(query, total), limit: query.limit, total, page: query.page };
}

async function readDocument(knowledge: Knowledge, c: Context): Promise<object> {
  const part = metadataPartFrom(c.req);
  const details = await knowledge.document(param(c, "dataset"), param(c, "document"));
  const { doc_type, doc_metadata, ...others } = details;
  if (part === "without") return others;
  return part === "only" ? present({ id: details.id, doc_type, doc_metadata }) : details;
}

/** Without the members that are undefined: what is not known is left out. */
function present(details: Details): Details {
  return Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined));
}

async function listMetadataFields(knowledge: Knowledge, c: Context): Promise<object> {
  return { fields: await knowledge.metadataFields(param(c, "dataset")) };
}

async function listChunks(knowledge: Knowledge, c: Context, shown: RoutesOptions["shown"]): Promise<object> {
  const dataset = param(c, "dataset");
  const document = param(c, "document");
  const query = statusQueryFrom(c.req);
  const { rows, doc_form, total } = await knowledge.chunks(dataset, document, query);
  return {
    data: rows.map(shown),
    doc_form,
    total,
    has_more: hasMore(query, total),
    limit: query.limit,
    page: query.page,
  };
}

async function listChildChunks(knowledge: Knowledge, c: Context): Promise<object> {
  const dataset = param(c, "dataset");
  const document = param(c, "document");
  const segment = param(c, "segment");
  const query = listQueryFrom(c.req);
  const { rows, total } = await knowledge.childChunks(dataset, document, segment, query);
  return { data: rows, total, total_pages: Math.ceil(total / query.limit), page: query.page, limit: query.limit };
}

async function readIndexingStatus(knowledge: Knowledge, c: Context): Promise<object> {
  const dataset = param(c, "dataset");
  return { data: await knowledge.indexingStatus(dataset, param(c, "batch")) };
}

function param(c: Context, name: string): string {
  return c.req.param(name) ?? "";
}

function hasMore({ page, limit }: ListQuery, total: number): boolean {
  return page * limit < total;
}

/** The page of a path that does not exist; the words are ours. */
function unknownPage(words: string): string {
  return `<!doctype html>\n<title>404 ${words}</title>\n<h1>${words}</h1>\n`;
}

function refuse(error: Error, c: Context): Response {
  if (error instanceof UnknownPath) return c.html(unknownPage(error.message), 404);
  if (!(error instanceof Refusal)) {
    return c.json({ code: "internal_server_error", message: error.message, status: 500 }, 500);
  }
  const { code, message, status, allow } = error;
  if (status === 401) c.header("WWW-Authenticate", "Bearer");
  if (allow !== undefined) c.header("Allow", allow);
  return c.json({ code, message, status }, status);
}
