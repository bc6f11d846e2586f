import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { Answers } from "./answers.js";
import { type Dataset, numbersOf } from "./dataset.js";
import { SearchAnswers } from "./elasticsearch.js";
import type { RequestKind } from "./served.js";

/** The kind under which `Served` counts a request, and the body of its answer; undefined: 404. */
export interface Answer {
  readonly kind: RequestKind;
  readonly body: Buffer | undefined;
}

/** Answers requests for a dataset: the Knowledge API below /v1, and Elasticsearch's scroll API at all other paths. */
export function answering(dataset: Dataset): (request: IncomingMessage) => Promise<Answer> {
  const answers = new Answers(dataset);
  const search = new SearchAnswers(dataset);
  return async (request) => {
    const url = request.url ?? "";
    if (url.startsWith("/v1/")) return knowledgeAnswer(url, dataset, answers);
    if (url.includes("/_search")) return { kind: "pages", body: search.scroll(await text(request)) };
    return { kind: "others", body: search.version };
  };
}

const fields = Buffer.from('{"fields":[]}');
const tags = Buffer.from('{"data":[],"total":0}');

function knowledgeAnswer(url: string, dataset: Dataset, answers: Answers): Answer {
  const [path = "", query] = url.split("?");
  const [, , , datasetId, folder, id, segments, chunk, children] = path.split("/");
  if (children !== undefined)
    return { kind: "childLists", body: answers.children(numbersOf(id ?? "").document, chunk ?? "") };
  const asked = new URLSearchParams(query);
  const [page, limit] = [Number(asked.get("page")), Number(asked.get("limit"))];
  if (segments !== undefined) return { kind: "pages", body: answers.chunks(id ?? "", page, limit) };
  if (folder === "documents" && id !== undefined) return { kind: "others", body: Buffer.from(JSON.stringify({ id })) };
  if (folder === "documents") return { kind: "others", body: answers.documents(page, limit) };
  if (folder === "metadata") return { kind: "others", body: fields };
  if (folder === "tags") return { kind: "others", body: tags };
  return { kind: "others", body: Buffer.from(JSON.stringify({ id: datasetId, name: `dataset ${dataset.documents}` })) };
}
