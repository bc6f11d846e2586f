import { chunkId, type Dataset } from "./dataset.js";
import { chunkRecord, idsOfChunk } from "./records.js";
import { answerOf, type FilledRow, Template } from "./template.js";

/** Chunks that differ in more than their ids, as many as on a page of the Knowledge API, so that both give the same records. */
const differing = 100;

/** The chunks of a dataset as the index of an Elasticsearch, which is read by the scroll API. */
export class SearchAnswers {
  readonly #dataset: Dataset;
  readonly #hits: readonly Template[];

  constructor(dataset: Dataset) {
    this.#dataset = dataset;
    this.#hits = Array.from({ length: differing }, (_, row) => {
      const source = chunkRecord(row, dataset.embedsChildren);
      return new Template(JSON.stringify({ _index: "chunks", _id: source.id, _score: 1, _source: source }));
    });
  }

  /** What the root says of the server. */
  readonly version = Buffer.from('{"version":{"number":"8.15.0"},"tagline":"You Know, for Search"}');

  /**
   * Answers a request by its body in JSON: the first rows of a search, or the next ones of a scroll. The id of a scroll tells how many rows
   * came before, and how many come at once, so that the server need not remember it. Nothing else of the body counts.
   */
  scroll(body: string): Buffer {
    const { scroll_id: scrollId, size: wanted = 10 } = JSON.parse(body) as { scroll_id?: string; size?: number };
    const [start = 0, size = wanted] = scrollId?.split("-").map(Number) ?? [];
    const total = this.#dataset.documents * this.#dataset.chunks;
    const end = Math.min(total, start + size);
    const rows = Array.from({ length: end - start }, (_, at) => this.#hit(start + at));
    const found = `"total":{"value":${total},"relation":"eq"},"max_score":1`;
    return answerOf(`{"_scroll_id":"${end}-${size}","timed_out":false,"hits":{${found},"hits":[`, rows, "]}}");
  }

  #hit(number: number): FilledRow {
    const { chunks } = this.#dataset;
    const [document, rank] = [Math.floor(number / chunks), number % chunks];
    const inSource = idsOfChunk(document, rank);
    const idOf = (hole: number) => (hole === 0 ? chunkId(document, rank) : inSource(hole - 1));
    return { template: this.#hits[rank % differing] as Template, idOf, rank };
  }
}
