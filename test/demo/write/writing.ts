import type { RunningService } from "../../../src/demo/start-service.js";
import {
  type WritableKnowledge,
  type WriteOptions,
  writableKnowledge,
} from "../../servers/writable/writable-knowledge.js";
import { ask, type Row, rowFrom, rowsFrom, started } from "../ask.js";
import { type ChunkSketch, documentId, type SmallShape, segments, smallDatasets } from "../small-knowledge.js";

/** The start time of a small service, in Unix seconds. */
export const start = 1_750_000_000;

export interface Writing {
  readonly service: RunningService;
  readonly demo: WritableKnowledge;
  /** Moves the clock forward. */
  readonly pass: (seconds: number) => void;
  /** Sends JSON to a path below the document's segments; omit `body` for methods without one. */
  readonly send: (method: string, path: string, body?: unknown) => Promise<Sent>;
  /** The chunks of the document, as the service lists them. */
  readonly list: () => Promise<readonly Row[]>;
}

export interface Sent {
  readonly status: number;
  readonly body: Row;
  readonly headers: Headers;
}

/** A small, writable service whose clock moves only when a test moves it. */
export async function startWriting(
  sketches: readonly ChunkSketch[],
  shape: SmallShape = {},
  options: WriteOptions = {},
): Promise<Writing> {
  let now = start;
  const clock = () => new Date(now * 1000);
  const demo = writableKnowledge(smallDatasets(sketches, shape), clock, options);
  const service = await started({ demo });
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

/** The row of the document, with the number of its chunks as `segment_count`. */
export function documentRow({ demo }: Writing): Row {
  const { row, chunks } = demo.store.read(documentId);
  return { ...row, segment_count: chunks.length };
}

export function refused(message: string, status = 400, code = "invalid_param") {
  return { status, body: { code, message, status } };
}
