import type * as v from "valibot";
import { check } from "../schema.js";
import { addRequest, type ChunkWrites, changeRequest, childRequest, type ParentIds } from "./chunk-writes.js";
import type { DocumentStore } from "./document-store.js";
import { invalidParam, type Listed } from "./knowledge.js";
import { type Asked, jsonReply, noContent, type Route, route } from "./routes.js";
import { signChunk } from "./sign-links.js";

const segments = "/v1/datasets/:dataset/documents/:document/segments";

/** The routes for writing chunks and child chunks, and for reading a single chunk. */
export function writeRoutes(writes: ChunkWrites, store: DocumentStore): readonly Route[] {
  const segment = `${segments}/:segment`;
  const children = `${segment}/child_chunks`;
  const child = `${children}/:child`;
  const shown = (chunk: Listed) => signChunk(chunk, store.now());
  const answer = ({ id }: Asked, data: object) => {
    const { doc_form } = store.readIn(id("dataset"), id("document")).row;
    return jsonReply(200, { data, doc_form });
  };
  return [
    route("POST", segments, async (asked) => {
      const { segments } = await bodyOf(addRequest, asked);
      return answer(asked, writes.addChunks(asked.id("dataset"), asked.id("document"), segments).map(shown));
    }),
    route("GET", segment, async (asked) => {
      store.readIn(asked.id("dataset"), asked.id("document"));
      return answer(asked, shown(store.locate(asked.id("segment")).chunk.row));
    }),
    route("POST", segment, async (asked) => {
      const { segment } = await bodyOf(changeRequest, asked);
      const { datasetId, documentId, chunkId } = parentOf(asked);
      return answer(asked, shown(writes.updateChunk(datasetId, documentId, chunkId, segment)));
    }),
    route("DELETE", segment, async ({ id }) => {
      writes.deleteChunk(id("dataset"), id("document"), id("segment"));
      return noContent;
    }),
    route("POST", children, async (asked) => {
      const { content } = await bodyOf(childRequest, asked);
      return jsonReply(200, { data: writes.addChild(parentOf(asked), content) });
    }),
    route("PATCH", child, async (asked) => {
      const { content } = await bodyOf(childRequest, asked);
      return jsonReply(200, { data: writes.updateChild(parentOf(asked), asked.id("child"), content) });
    }),
    route("DELETE", child, async (asked) => {
      writes.deleteChild(parentOf(asked), asked.id("child"));
      return noContent;
    }),
  ];
}

function parentOf({ id }: Asked): ParentIds {
  return { datasetId: id("dataset"), documentId: id("document"), chunkId: id("segment") };
}

/** Parses the JSON body of a request. Throws a 400 that names every problem. */
export async function bodyOf<const Schema extends v.GenericSchema>(
  schema: Schema,
  { bytes }: Pick<Asked, "bytes">,
): Promise<v.InferOutput<Schema>> {
  return checked(schema, parseJson((await bytes()).toString()));
}

/** Checks a value. Throws a 400 that names every problem. */
export function checked<const Schema extends v.GenericSchema>(schema: Schema, value: unknown): v.InferOutput<Schema> {
  const result = check(schema, value);
  if (result.problems === null) return result.value;
  throw invalidParam(result.problems.map(({ path, message }) => `${path || "the body"}: ${message}`).join("; "));
}

/** Parses JSON. Throws a 400 for anything else. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidParam("The body is not valid JSON.");
  }
}

/** The default and maximum duration of a re-index, in seconds. */
const usual = 5;
const longest = 86_400;

/**
 * `POST /demo/reindex/<document id>?seconds=5` re-indexes a document of the demo. It is not part of the service's API, and is
 * outside of its base URL. Answers 202 with JSON, or only the batch if the client accepts plain text.
 */
export function reindexRoute(store: DocumentStore): Route {
  return route("POST", "/demo/reindex/:document", ({ id, query, headers }) => {
    const begun = store.reindex(id("document"), { seconds: secondsFrom(query) });
    if (!headers.accept?.startsWith("text/plain")) return jsonReply(202, begun);
    return { status: 202, type: "text/plain; charset=UTF-8", content: `${begun.batch}\n` };
  });
}

function secondsFrom(query: URLSearchParams): number {
  const text = query.get("seconds") ?? String(usual);
  if (/^\d+(\.\d+)?$/.test(text) && Number(text) <= longest) return Number(text);
  throw invalidParam(`seconds must be a number from 0 to ${longest}.`);
}
