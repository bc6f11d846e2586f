import { childId, childrenPerList, chunkId, documentId } from "./dataset.js";
import { idMark, positionMark } from "./template.js";

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

/** A chunk of 27 fields and 1.6 KB, like real ones. Its id, document id and position are placeholders; the ids come in this order. */
export function chunkRecord(row: number, embedsChildren: boolean): Record<string, unknown> {
  const created = 1_741_267_200 + Math.floor(row / 10);
  const content = prose(row, 760);
  return {
    id: idMark,
    position: positionMark,
    document_id: idMark,
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
    indexing_at: created + 200_001, // the service creates all chunks before it completes one; 1,000,000 rows are created in 100,000 s
    completed_at: created + 200_003,
    error: null,
    stopped_at: null,
    child_chunks: embedsChildren ? Array.from({ length: childrenPerList }, (_, child) => childRecord(child)) : [],
    attachments: [],
    summary: null,
  };
}

/** The ids for the placeholders in a chunk: its own, its document's, then for each embedded child the child's and the chunk's. */
export function idsOfChunk(document: number, chunk: number): (hole: number) => string {
  const [own, ofDocument] = [chunkId(document, chunk), documentId(document)];
  return (hole) => {
    if (hole === 1) return ofDocument;
    return hole === 0 || hole % 2 === 1 ? own : childId(document, chunk, hole / 2 - 1);
  };
}

/** A child chunk. Its id and its chunk's id are placeholders, in this order. */
export function childRecord(row: number): Record<string, unknown> {
  return {
    id: idMark,
    segment_id: idMark,
    content: prose(row, 280),
    position: row + 1,
    word_count: 280,
    type: "automatic",
    created_at: 1_741_267_200,
    updated_at: 1_741_267_200,
  };
}

/** The ids for the placeholders in a child chunk: its own and its chunk's. */
export function idsOfChild(document: number, chunk: number, child: number): (hole: number) => string {
  return (hole) => (hole === 0 ? childId(document, chunk, child) : chunkId(document, chunk));
}

/** A document in the list of documents. */
export function documentRecord(id: string, position: number, docForm: string): Record<string, unknown> {
  return {
    id,
    position,
    name: `document ${position}.txt`,
    doc_form: docForm,
    data_source_type: "upload_file",
    indexing_status: "completed",
    display_status: "available",
    created_at: 1_741_267_200,
    tokens: 16_000,
    word_count: 76_000,
    hit_count: 0,
    enabled: true,
    archived: false,
    error: null,
  };
}
