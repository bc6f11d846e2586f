import type { Listed } from "../knowledge.js";
import { type Asked, jsonReply, noContent, type Route, route } from "../routes.js";
import { checkAdd, checkChange, checkChild } from "./requests.js";
import type { ParentIds, WritableKnowledge } from "./writable-knowledge.js";

const segments = "/v1/datasets/:dataset/documents/:document/segments";

/** The routes of the writes, and the one that reads a single chunk. `shown` makes a chunk what is answered. */
export function writeRoutes(knowledge: WritableKnowledge, shown: (chunk: Listed) => Listed): readonly Route[] {
  return [...chunkRoutes(knowledge, shown), ...childRoutes(knowledge)];
}

function chunkRoutes(knowledge: WritableKnowledge, shown: (chunk: Listed) => Listed): readonly Route[] {
  const segment = `${segments}/:segment`;
  return [
    route("POST", segments, async ({ id, body }) => {
      const { data, doc_form } = await knowledge.addChunks(id("dataset"), id("document"), checkAdd(await body()));
      return jsonReply(200, { data: data.map(shown), doc_form });
    }),
    route("GET", segment, async ({ id }) => {
      const { data, doc_form } = knowledge.readChunk(id("dataset"), id("document"), id("segment"));
      return jsonReply(200, { data: shown(data), doc_form });
    }),
    route("POST", segment, async ({ id, body }) => {
      const change = checkChange(await body());
      const { data, doc_form } = await knowledge.updateChunk(id("dataset"), id("document"), id("segment"), change);
      return jsonReply(200, { data: shown(data), doc_form });
    }),
    route("DELETE", segment, async ({ id }) => {
      await knowledge.deleteChunk(id("dataset"), id("document"), id("segment"));
      return noContent;
    }),
  ];
}

function childRoutes(knowledge: WritableKnowledge): readonly Route[] {
  const children = `${segments}/:segment/child_chunks`;
  const child = `${children}/:child`;
  return [
    route("POST", children, async (asked) => {
      const content = checkChild(await asked.body());
      return jsonReply(200, { data: await knowledge.addChild(parentOf(asked), content) });
    }),
    route("PATCH", child, async (asked) => {
      const content = checkChild(await asked.body());
      return jsonReply(200, { data: await knowledge.updateChild(parentOf(asked), asked.id("child"), content) });
    }),
    route("DELETE", child, async (asked) => {
      await knowledge.deleteChild(parentOf(asked), asked.id("child"));
      return noContent;
    }),
  ];
}

function parentOf({ id }: Asked): ParentIds {
  return { datasetId: id("dataset"), documentId: id("document"), chunkId: id("segment") };
}
