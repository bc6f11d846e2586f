import type { Answer } from "./answer.js";
import type { Behaviour } from "./behaviour.js";
import type { Json, JsonObject } from "./json.js";
import { type Asked, pageOf } from "./paging.js";
import type { Store, TestDataset, TestDocument } from "./store.js";

/** The lists of datasets and documents. Even old servers page them, so `paging` does not affect them. */

function listAnswer(rows: readonly Json[], asked: Asked, behaviour: Behaviour): Answer {
  const { rows: data, total, hasMore } = pageOf(rows, asked, { ...behaviour, paging: "normal" });
  const more: { has_more?: boolean } = hasMore === undefined ? {} : { has_more: hasMore };
  return { status: 200, json: { data, ...more, limit: asked.limit, total, page: asked.page } };
}

function datasetRow(dataset: TestDataset): JsonObject {
  const forms = [...dataset.documents.values()].map((document) => document.docForm);
  return {
    id: dataset.id,
    name: dataset.name,
    description: null,
    provider: "vendor",
    permission: "only_me",
    document_count: dataset.documents.size,
    doc_form: forms[0] ?? null,
    enable_api: true,
    ...dataset.listed,
  };
}

function documentRow(document: TestDocument, index: number): JsonObject {
  return {
    id: document.id,
    position: index + 1,
    name: document.name,
    doc_form: document.docForm,
    indexing_status: "completed",
    display_status: "available",
    created_at: document.createdAt,
    tokens: 0,
    word_count: document.chunks.reduce((sum, { word_count }) => sum + (Number(word_count) || 0), 0),
    hit_count: 0,
    enabled: true,
    archived: false,
    error: null,
    ...document.listed,
  };
}

/** Answers a request for the list of datasets. */
export function datasetList(store: Store, asked: Asked, behaviour: Behaviour): Answer {
  return listAnswer([...store.datasets.values()].map(datasetRow), asked, behaviour);
}

/** Answers a request for the details of a dataset. Undefined for older servers, which have no such route. */
export function datasetDetails(dataset: TestDataset, { details = true }: Behaviour): Answer | undefined {
  return details ? { status: 200, json: datasetRow(dataset) } : undefined;
}

/** Answers a request for the documents of a dataset, newest first. */
export function documentList(dataset: TestDataset, asked: Asked, behaviour: Behaviour): Answer {
  return listAnswer([...dataset.documents.values()].map(documentRow).reverse(), asked, behaviour);
}
