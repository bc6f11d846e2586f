import { childId, childrenPerList, chunkId, type Dataset, documentId, numbersOf } from "./dataset.js";

/** Bytes with holes: what stands in them differs from answer to answer, and has always the same length. */
class Template {
  readonly #bytes: Buffer;
  readonly #ids: readonly number[];
  readonly #positions: readonly number[];

  /** `text` has a mark, which occurs nowhere else, wherever a hole is. */
  constructor(text: string) {
    this.#bytes = Buffer.from(text);
    this.#ids = this.#placesOf(mark);
    this.#positions = this.#placesOf(String(positionMark));
  }

  #placesOf(text: string): readonly number[] {
    const places: number[] = [];
    for (let at = this.#bytes.indexOf(text); at >= 0; at = this.#bytes.indexOf(text, at + 1)) places.push(at);
    return places;
  }

  /** `idOf` gives the id for each hole; positions rise from the given one. */
  fill(idOf: (hole: number) => string, firstPosition = 0): Buffer {
    const bytes = Buffer.from(this.#bytes);
    for (const [hole, at] of this.#ids.entries()) bytes.write(idOf(hole), at, "latin1");
    for (const [row, at] of this.#positions.entries()) bytes.write(String(firstPosition + row), at, "latin1");
    return bytes;
  }
}

/** A position of as many digits as all have, and that none has. */
const positionMark = 7_654_321;
const leastPosition = 1_000_000;
const mark = "????????-????-????-????-????????????";
const words = "index page vector server batch query retrieve token document chunk archive nightly owner answer".split(
  " ",
);

/** Text that does not repeat within a page. */
function prose(seed: number, length: number): string {
  let [text, state] = ["", seed + 1];
  while (text.length < length) {
    state = (state * 48_271) % 2_147_483_647;
    text += `${words[state % words.length]}${state % 11 === 0 ? ", " : state % 17 === 0 ? ".\n" : " "}`;
  }
  return text.slice(0, length).trimEnd();
}

/** 27 fields and 1.6 KB, as real chunks have them. The first hole is its id, the second its document. */
function chunkRecord(row: number): Record<string, unknown> {
  const created = 1_741_267_200 + Math.floor(row / 10);
  const content = prose(row, 760);
  return {
    id: mark,
    position: positionMark,
    document_id: mark,
    content,
    sign_content: row % 2 === 0 ? content.slice(0, 120) : "",
    answer: "",
    word_count: content.length,
    tokens: 160 + (row % 50),
    keywords: ["index", "vector", "batch", `k${row}`],
    index_node_id: `a1b2c3d4-e5f6-4890-abcd-${String(row).padStart(12, "0")}`,
    index_node_hash: "8d5e957f297893487bd98fa830fa6413a94a8fe5ccb19ba61c4c0873d391e987",
    hit_count: row % 7,
    enabled: true,
    disabled_at: null,
    disabled_by: null,
    status: "completed",
    created_by: "ad313dd6-ef04-4dd1-a5b0-c0f0b9e2e7e4",
    created_at: created,
    updated_at: created,
    updated_by: null,
    indexing_at: created + 1,
    completed_at: created + 3,
    error: null,
    stopped_at: null,
    child_chunks: [],
    attachments: [],
    summary: null,
  };
}

function childRecord(row: number): Record<string, unknown> {
  return {
    id: mark,
    segment_id: mark,
    content: prose(row, 280),
    position: row + 1,
    word_count: 280,
    type: "automatic",
    created_at: 1_741_267_200,
    updated_at: 1_741_267_200,
  };
}

/** The answers of the service, ready but for the ids in them. */
export class Answers {
  readonly #dataset: Dataset;
  readonly #pages = new Map<number, Template>();
  readonly #children: Template;

  constructor(dataset: Dataset) {
    this.#dataset = dataset;
    const data = Array.from({ length: childrenPerList }, (_, row) => childRecord(row));
    const body = { data, total: childrenPerList, total_pages: 1, page: 1, limit: 100 };
    this.#children = new Template(JSON.stringify(body));
  }

  /** A page of the chunks of a document, from 1, of so many rows; undefined where there is none. */
  page(ownId: string, page: number, limit: number): Buffer | undefined {
    const { document } = numbersOf(ownId);
    const first = (page - 1) * limit;
    const rows = Math.min(limit, this.#dataset.chunks - first);
    if (rows <= 0 || first < 0 || document >= this.#dataset.documents || ownId !== documentId(document))
      return undefined;
    const template = this.#template(rows);
    const idOf = (hole: number) => (hole % 2 === 0 ? chunkId(document, first + hole / 2) : ownId);
    return template.fill(idOf, leastPosition + first);
  }

  /** The child list of a chunk; undefined where there is no such chunk. */
  children(document: number, parent: string): Buffer | undefined {
    const { chunk } = numbersOf(parent);
    if (chunk >= this.#dataset.chunks || parent !== chunkId(document, chunk)) return undefined;
    return this.#children.fill((hole) => (hole % 2 === 0 ? childId(document, chunk, hole / 2) : parent));
  }

  #template(rows: number): Template {
    const made = this.#pages.get(rows);
    if (made) return made;
    const data = Array.from({ length: rows }, (_, row) => chunkRecord(row));
    const { chunks: total } = this.#dataset;
    const body = { data, doc_form: "text_model", total, has_more: rows === 100, limit: 100, page: 1 };
    const template = new Template(JSON.stringify(body));
    this.#pages.set(rows, template);
    return template;
  }
}
