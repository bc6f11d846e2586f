import { createHash } from "node:crypto";
import type { ChildRecord, ChunkRecord, Json } from "./json.js";
import { characters, prose } from "./prose.js";
import { hex, integer, pick, type Random, uuid } from "./random.js";

/** 2025-03-06T13:20:00Z. All sample times are near it. */
export const sampleTime = 1_741_267_200;

const words = ["warranty", "refund", "certificate", "Öffnungszeiten", "congés", "附件", "backup", "límite"] as const;
const statuses = [
  "completed",
  "completed",
  "completed",
  "completed",
  "indexing",
  "error",
  "waiting",
  "re_segment",
] as const;

export interface LocatedChunk {
  readonly documentId: string;
  readonly author: string;
  readonly docForm: string;
  readonly position: number;
}

function rarely<T extends Json>(random: Random, share: number, value: () => T): T | null {
  return random() < share ? value() : null;
}

function signedLink(random: Random, kind: "file" | "image", fileId: string): string {
  const sign = `${hex(random, 43)}=`;
  return `/files/${fileId}/${kind}-preview?timestamp=${sampleTime}&nonce=${hex(random, 32)}&sign=${sign}`;
}

function attachment(random: Random): Json {
  const id = uuid(random);
  const name = `figure ${integer(random, 1, 99)}.png`;
  const facts = { id, name, size: integer(random, 1, 9_999_999), extension: "png", mime_type: "image/png" };
  return { ...facts, source_url: signedLink(random, "file", id) };
}

/** A text in two forms: as stored, with bare links, and as the service returns it, with signed links. */
function contents(random: Random): { content: string; signed: string } {
  const text = prose(random, 3, 7);
  if (random() >= 0.1) return { content: text, signed: text };
  const fileId = uuid(random);
  const behind = fileId < "8" ? ")" : "tail"; // real servers put the signature right after the path, even inside a word
  const bare = `${text} ![image](/files/${fileId}/image-preview${behind}`;
  return { content: bare, signed: `${text} ![image](${signedLink(random, "image", fileId)}${behind}` };
}

function times(random: Random): Record<"created_at" | "updated_at" | "indexing_at" | "completed_at", number | null> {
  const created = sampleTime + integer(random, 0, 86_400);
  const fraction = random() < 0.5 ? Math.round(random() * 1e6) / 1e6 : 0;
  return {
    created_at: created,
    updated_at: created + integer(random, 0, 3_600),
    indexing_at: random() < 0.1 ? null : created + 2 + fraction,
    completed_at: random() < 0.2 ? null : created + 9 + fraction,
  };
}

/** A chunk with all 27 fields, some null as in real servers. Some of its times are floats. */
export function makeChunk(random: Random, place: LocatedChunk): ChunkRecord {
  const { content, signed } = contents(random);
  const disabled = random() < 0.05;
  const status = random() < 0.8 ? "completed" : pick(random, statuses);
  const time = times(random);
  return {
    id: uuid(random),
    position: place.position,
    document_id: place.documentId,
    content,
    sign_content: signed,
    answer: place.docForm === "qa_model" ? prose(random, 1, 2) : pick(random, [null, null, ""]),
    word_count: characters(content),
    tokens: Math.ceil(content.length / 4),
    keywords: random() < 0.2 ? null : [pick(random, words), pick(random, words)],
    index_node_id: random() < 0.05 ? null : uuid(random),
    index_node_hash: random() < 0.05 ? null : createHash("sha256").update(content).digest("hex"),
    hit_count: integer(random, 0, 40),
    enabled: !disabled,
    disabled_at: disabled ? sampleTime + 100_000 : null,
    disabled_by: disabled ? place.author : null,
    status,
    created_by: place.author,
    created_at: time.created_at,
    updated_at: time.updated_at,
    updated_by: rarely(random, 0.2, () => place.author),
    indexing_at: time.indexing_at,
    completed_at: status === "completed" ? time.completed_at : null,
    error: status === "error" ? pick<Json>(random, [null, "Connection error.", { code: 429, reason: "quota" }]) : null,
    stopped_at: rarely(random, 0.02, () => sampleTime + 0.25),
    child_chunks: [],
    attachments: random() < 0.05 ? [attachment(random)] : [],
    summary: rarely(random, 0.1, () => pick<Json>(random, [prose(random, 1, 1), { text: "short", words: 1 }])),
  };
}

/** A child chunk with its 8 fields. */
export function makeChild(random: Random, segmentId: string, position: number): ChildRecord {
  const content = prose(random, 1, 2);
  const created = sampleTime + integer(random, 0, 86_400);
  return {
    id: uuid(random),
    segment_id: segmentId,
    content,
    position,
    word_count: characters(content),
    type: random() < 0.1 ? "customized" : "automatic",
    created_at: created,
    updated_at: random() < 0.3 ? created + 0.5 : created,
  };
}
