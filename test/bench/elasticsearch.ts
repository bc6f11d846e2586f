import { chunkId, type Dataset } from "./dataset.js";
import { chunkRecord, idsOfChunk } from "./records.js";
import { answerOf, type FilledRow, Template } from "./template.js";

/** The number of different chunks, before they repeat with new ids. The same as a page of the Knowledge API, so records are equal. */
const differing = 100;

/** The chunks of a dataset as an Elasticsearch index, for the scroll API. */
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

  /** The answer of the root URL. */
  readonly version = Buffer.from('{"version":{"number":"8.15.0"},"tagline":"You Know, for Search"}');

  /**
   * Answers a JSON request with the first rows of a search, or the next rows of a scroll. The server is stateless, because the scroll
   * id contains the number of rows so far and the page size. Ignores the rest of the body.
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
