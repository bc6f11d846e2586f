import { type Answer, errorAnswer, htmlAnswer, notFoundAnswer } from "./answer.js";
import type { Behaviour } from "./behaviour.js";
import { datasetDetails, datasetList, documentList } from "./discovery.js";
import type { ChildRecord, ChunkRecord, Json, JsonObject } from "./json.js";
import { type Asked, askedOf, hasKeyword, pageOf, withShuffledTies } from "./paging.js";
import { type Random, shuffled } from "./random.js";
import { findChunk, type Store, type TestDataset, type TestDocument } from "./store.js";

/** Everything that an answer depends on. */
export interface Question {
  readonly store: Store;
  readonly behaviour: Behaviour;
  readonly random: Random;
  /** By dataset id and batch: how often the batch was read. */
  readonly batchReads: Map<string, number>;
  /** The path as the client sent it, with `/v1`. */
  readonly path: string;
  readonly query: URLSearchParams;
}

const builtInFields: Json[] = [
  { name: "document_name", type: "string" },
  { name: "uploader", type: "string" },
  { name: "upload_date", type: "time" },
  { name: "last_update_date", type: "time" },
  { name: "source", type: "string" },
];

const invalid = errorAnswer(400, "invalid_param", "page and limit must be integers from 1 on");

function listed<Row extends ChunkRecord | ChildRecord>(rows: Row[], question: Question): Row[] {
  const keyword = question.query.get("keyword") ?? "";
  const statuses = question.query.getAll("status");
  const isListed = (row: Row) =>
    hasKeyword(row, keyword) && (statuses.length === 0 || statuses.some((status) => status === row.status));
  const found = keyword === "" && statuses.length === 0 ? rows : rows.filter(isListed);
  return question.behaviour.ties === "shuffled" ? withShuffledTies(found, question.random) : found;
}

/** The error of a page with an unreadable row; undefined if there is none. */
function unrenderedIn(rows: readonly { readonly id: string }[], { unrendered }: Behaviour): Answer | undefined {
  const error = rows.map(({ id }) => unrendered?.get(id)).find((found) => found !== undefined);
  return error && errorAnswer(error.status, error.code, error.message);
}

function chunkList(question: Question, document: TestDocument, asked: Asked): Answer {
  const rows = listed(document.chunks, question);
  const envelope = { doc_form: document.docForm, total: rows.length };
  if (question.behaviour.paging === "ignored") return { status: 200, json: { data: rows, ...envelope } };
  const { rows: data, hasMore } = pageOf(rows, asked, question.behaviour);
  const unrendered = unrenderedIn(data, question.behaviour);
  if (unrendered) return unrendered;
  const more: { has_more?: boolean } = hasMore === undefined ? {} : { has_more: hasMore };
  return { status: 200, json: { data, ...envelope, ...more, limit: asked.limit, page: asked.page } };
}

function childList(question: Question, document: TestDocument, chunkId: string, asked: Asked): Answer {
  if (!findChunk(document, chunkId)) return notFoundAnswer("Segment", question.path);
  question.query.delete("status");
  const rows = listed(document.children.get(chunkId) ?? [], question);
  const total = rows.length;
  if (question.behaviour.paging === "ignored") return { status: 200, json: { data: rows, total } };
  const { rows: data, pages } = pageOf(rows, asked, question.behaviour);
  const unrendered = unrenderedIn(data, question.behaviour);
  if (unrendered) return unrendered;
  return { status: 200, json: { data, total, total_pages: pages, page: asked.page, limit: asked.limit } };
}

function batchStatus(question: Question, dataset: TestDataset, name: string): Answer {
  const batch = dataset.batches.get(name);
  if (!batch) return notFoundAnswer("Documents", question.path);
  const counted = `${dataset.id} ${name}`;
  const read = (question.batchReads.get(counted) ?? 0) + 1;
  question.batchReads.set(counted, read);
  const entries = typeof batch === "function" ? batch(read) : batch;
  const data = question.behaviour.ties === "shuffled" ? shuffled(question.random, entries) : entries;
  return { status: 200, json: { data } };
}

function singleChunk({ path }: Question, document: TestDocument | undefined, chunkId: string): Answer {
  const chunk = document && findChunk(document, chunkId);
  return chunk ? { status: 200, json: { data: chunk, doc_form: document.docForm } } : notFoundAnswer("Segment", path);
}

function documentAnswer(question: Question, dataset: TestDataset, documentId: string, chunkId?: string): Answer {
  const document = dataset.documents.get(documentId);
  if (!document) return notFoundAnswer("Document", question.path);
  const error = question.behaviour.documentError?.get(documentId);
  if (error) {
    const { status, body } = error;
    if (typeof body === "object" && body !== null && !Array.isArray(body)) return { status, json: body };
    return { status, html: String(body) };
  }
  const asked = askedOf(question.query);
  if (!asked) return invalid;
  return chunkId === undefined ? chunkList(question, document, asked) : childList(question, document, chunkId, asked);
}

function given(json: JsonObject | undefined): Answer | undefined {
  return json && { status: 200, json };
}

/** The answer of a route for originals, which only some releases have. The newer route returns only the address. */
function uploadAnswer(
  { path, behaviour }: Question,
  leaf: string,
  document: TestDocument | undefined,
): Answer | undefined {
  if (leaf !== (behaviour.originals ?? "upload-file")) return undefined;
  if (!document) return notFoundAnswer("Document", path);
  if (document.upload === null) return notFoundAnswer("UploadFile", path);
  return given(leaf === "download" ? { url: document.upload?.download_url ?? null } : document.upload);
}

function datasetAnswer(question: Question, dataset: TestDataset, rest: string[]): Answer | undefined {
  const [collection, id = "", leaf, chunkId, children] = rest;
  if (rest.length === 0) return datasetDetails(dataset, question.behaviour);
  if (collection === "metadata" && id === "built-in" && rest.length === 2) {
    return { status: 200, json: { fields: builtInFields } };
  }
  if (rest.length === 1 && collection === "metadata") return given(dataset.metadata);
  if (rest.length === 1 && collection === "tags") return given(dataset.tags);
  if (collection !== "documents") return undefined;
  if (rest.length === 1) {
    const asked = askedOf(question.query);
    return asked ? documentList(dataset, asked, question.behaviour) : invalid;
  }
  if (rest.length === 2) return given(dataset.documents.get(id)?.details);
  if ((leaf === "upload-file" || leaf === "download") && rest.length === 3)
    return uploadAnswer(question, leaf, dataset.documents.get(id));
  if (leaf === "indexing-status" && rest.length === 3) return batchStatus(question, dataset, id);
  if (leaf !== "segments") return undefined;
  if (rest.length === 3) return documentAnswer(question, dataset, id);
  if (rest.length === 4) return singleChunk(question, dataset.documents.get(id), chunkId ?? "");
  return children === "child_chunks" && rest.length === 5 ? documentAnswer(question, dataset, id, chunkId) : undefined;
}

/** Whether this is the path of a chunk list. Only these answers are worth caching. */
export function isChunkList(path: string): boolean {
  return path.endsWith("/segments");
}

/** The answer of a healthy server to a GET. `authorized` matters only if the URL exists. */
export function rightAnswer(question: Question, authorized: boolean): Answer {
  const unknown = htmlAnswer(404, "Not Found");
  const steps = question.path.split("/").slice(1).map(decoded);
  if (steps[0] !== "v1" || steps[1] !== "datasets") return unknown;
  if (!authorized) return errorAnswer(401, "unauthorized", "Access token is invalid");
  const [datasetId = "", ...rest] = steps.slice(2);
  if (steps.length === 2) {
    const asked = askedOf(question.query);
    return asked ? datasetList(question.store, asked, question.behaviour) : invalid;
  }
  const dataset = question.store.datasets.get(datasetId);
  if (!dataset) return notFoundAnswer("Dataset", question.path);
  return datasetAnswer(question, dataset, rest) ?? unknown;
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
