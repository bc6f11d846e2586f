import type { IncomingMessage, ServerResponse } from "node:http";
import type { RequestRecord } from "./behaviour.js";

const keptHeaders = [
  "accept",
  "accept-encoding",
  "authorization",
  "cache-control",
  "content-length",
  "content-type",
  "user-agent",
];

function headersOf(request: IncomingMessage): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of keptHeaders) {
    const value = request.headers[name];
    if (value !== undefined) kept[name] = String(value);
  }
  return kept;
}

/** Records requests, and how many were open at the same time. */
export class RequestLog {
  readonly records: RequestRecord[] = [];
  maxInFlight = 0;
  #open = 0;
  #givenUp = 0;
  readonly #asked = new Map<string, number>();

  /** Records a request. Its `inFlight` is set when the promise resolves, two turns of the event loop later. */
  async arrive(request: IncomingMessage, response: ServerResponse): Promise<RequestRecord> {
    const { method = "", url = "" } = request;
    const [path = "", ...query] = url.split("?");
    const asked = `${method} ${url}`;
    const nth = this.#asked.get(asked) ?? 0;
    this.#asked.set(asked, nth + 1);
    const at = performance.timeOrigin + performance.now();
    const headers = headersOf(request);
    const seen = { method, path, query: query.join("?"), headers, at, nth };
    const record: RequestRecord = { ...seen, inFlight: 0, status: 0, fault: undefined };
    this.records.push(record);
    await this.#count(record, request, response);
    return record;
  }

  /** Clears the log. Requests in progress still count as in flight. */
  clear(): void {
    this.records.length = 0;
    this.maxInFlight = 0;
    this.#asked.clear();
  }

  /**
   * A client that gives up a request and sends the next closes one connection and writes to another. The server may notice these in
   * any order, so it does not count requests that turn out to be closed within two turns.
   */
  async #count(record: RequestRecord, request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#open++;
    let left = false;
    const leave = () => {
      if (left) return;
      left = true;
      this.#open--;
      if (!response.writableFinished && !record.fault?.startsWith("reset")) this.#givenUp++;
    };
    request.once("close", leave);
    request.once("error", leave);
    response.once("close", leave);
    const [open, givenUp] = [this.#open, this.#givenUp];
    for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
    record.inFlight = Math.max(1, open - (this.#givenUp - givenUp));
    this.maxInFlight = Math.max(this.maxInFlight, record.inFlight);
  }
}
