import type { RunningService } from "../../../src/demo/start-service.js";
import type { WriteOptions } from "../../servers/writable/writable-knowledge.js";
import { type WritableKnowledge, writableKnowledge } from "../../servers/writable/writable-knowledge.js";
import { ask, type Row, rowFrom, rowsFrom, started } from "../ask.js";
import { type ChunkSketch, documentId, type SmallShape, segments, smallDatasets } from "../small-knowledge.js";

/** The time at which a small service starts. */
export const start = 1_750_000_000;

export interface Writing {
  readonly service: RunningService;
  readonly demo: WritableKnowledge;
  /** So many seconds pass. */
  readonly pass: (seconds: number) => void;
  /** Sends a JSON body to a path below the segments of the document; none for a method without one. */
  readonly send: (method: string, path: string, body?: unknown) => Promise<Sent>;
  /** The chunks of the document as they are listed. */
  readonly list: () => Promise<readonly Row[]>;
}

export interface Sent {
  readonly status: number;
  readonly body: Row;
  readonly headers: Headers;
}

/** A service of a small knowledge that takes writes. Its clock stands still until time passes. */
export async function startWriting(
  sketches: readonly ChunkSketch[],
  shape: SmallShape = {},
  options: WriteOptions = {},
): Promise<Writing> {
  let now = start;
  const clock = () => new Date(now * 1000);
  const demo = writableKnowledge(smallDatasets(sketches, shape), clock, options);
  const service = await started({ demo, clock });
  return {
    service,
    demo,
    pass: (seconds) => {
      now += seconds;
    },
    send: (method, path, body) => send(service, method, `${segments}${path}`, body),
    list: async () => rowsFrom((await send(service, "GET", segments)).body.data),
  };
}

export async function send(service: RunningService, method: string, path: string, body?: unknown): Promise<Sent> {
  const headers = { authorization: `Bearer ${service.key}` };
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  const answer = await ask(service, path, init);
  return { ...answer, body: answer.text === "" ? {} : rowFrom(JSON.parse(answer.text)) };
}

/** The row of the document, and the number of its chunks. */
export function documentRow({ demo }: Writing): Row {
  const { row, chunks } = demo.store.read(documentId);
  return { ...row, segment_count: chunks.length };
}

export function refused(message: string, status = 400, code = "invalid_param") {
  return { status, body: { code, message, status } };
}
