import type { RunningService } from "../../../src/demo/start-service.js";
import { ask, rowFrom, started } from "../../demo/ask.js";
import { type Sent, send, start } from "../../demo/write/writing.js";
import { type WritableKnowledge, type WriteOptions, writableKnowledge } from "./writable-knowledge.js";

export interface EmptyService {
  readonly service: RunningService;
  readonly demo: WritableKnowledge;
  /** Advances the clock by this many seconds. */
  readonly pass: (seconds: number) => void;
  /** Sends a request to a path below `/datasets`, with a JSON body if given. */
  readonly send: (method: string, path: string, body?: unknown) => Promise<Sent>;
  /** Sends a form with a file to a path below `/datasets`. */
  readonly sendFile: (path: string, file: File | undefined, data?: unknown) => Promise<Sent>;
  /** Creates a dataset, and returns its id. */
  readonly newDataset: (fields?: object) => Promise<string>;
}

/** Starts a service without datasets. Its clock only moves when you call `pass`. */
export async function startEmpty(options: WriteOptions = {}): Promise<EmptyService> {
  let now = start;
  const clock = () => new Date(now * 1000);
  const demo = writableKnowledge([], clock, options);
  const service = await started({ demo });
  const sendBelow = (method: string, path: string, body?: unknown) => send(service, method, `/datasets${path}`, body);
  let datasets = 0;
  return {
    service,
    demo,
    pass: (seconds) => {
      now += seconds;
    },
    send: sendBelow,
    sendFile: async (path, file, data) => {
      const form = new FormData();
      if (data !== undefined) form.set("data", JSON.stringify(data));
      if (file) form.set("file", file);
      const headers = { authorization: `Bearer ${service.key}` };
      const answer = await ask(service, `/datasets${path}`, { method: "POST", headers, body: form });
      return { ...answer, body: rowFrom(JSON.parse(answer.text)) };
    },
    newDataset: async (fields = {}) => {
      const { status, body } = await sendBelow("POST", "", { name: `Dataset ${++datasets}`, ...fields });
      if (status !== 200) throw new Error(`the dataset was refused: ${JSON.stringify(body)}`);
      return String(body.id);
    },
  };
}
