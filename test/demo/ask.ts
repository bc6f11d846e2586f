import { afterEach } from "vitest";
import type { Knowledge } from "../../src/demo/knowledge.js";
import { sampleKnowledge } from "../../src/demo/sample/sample-knowledge.js";
import { type RunningService, type ServiceOptions, startService } from "../../src/demo/start-service.js";

export type Row = Readonly<Record<string, unknown>>;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const running: RunningService[] = [];

interface StartOptions extends ServiceOptions {
  /** The data to serve, read-only. */
  readonly knowledge?: Knowledge;
  /** The clock of the sample data. */
  readonly clock?: () => Date;
}

/** Starts a service and closes it when the test ends. */
export async function started({ knowledge, clock, ...options }: StartOptions = {}): Promise<RunningService> {
  const reads = knowledge && { demo: { reads: knowledge, routes: [] } };
  const sample = clock && { demo: sampleKnowledge(clock) };
  const service = await startService({ ...sample, ...reads, ...options });
  running.push(service);
  return service;
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.close()));
});

/** Sends a GET with the key of the service, unless `init` overrides it. */
export async function ask(service: RunningService, path: string, init: RequestInit = {}): Promise<Answer> {
  const headers = { authorization: `Bearer ${service.key}` };
  const response = await fetch(`${service.url}${path}`, { headers, ...init });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** The JSON body of an answer with status 200. */
export async function read(service: RunningService, path: string): Promise<Row> {
  const { status, text } = await ask(service, path);
  if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`);
  return rowFrom(JSON.parse(text));
}

/** The rows on one page of a list. */
export async function readRows(service: RunningService, path: string): Promise<readonly Row[]> {
  return rowsFrom((await read(service, path)).data);
}

/** The rows on all pages of a list. */
export async function readAllRows(service: RunningService, path: string): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (let page = 1; ; page++) {
    const body = await read(service, `${path}?limit=100&page=${page}`);
    rows.push(...rowsFrom(body.data));
    if (rows.length >= Number(body.total)) return rows;
  }
}

export function rowsFrom(value: unknown): readonly Row[] {
  if (!Array.isArray(value)) throw new TypeError(`not an array: ${JSON.stringify(value)}`);
  return value.map(rowFrom);
}

export function rowFrom(value: unknown): Row {
  if (!isRow(value)) throw new TypeError(`not an object: ${JSON.stringify(value)}`);
  return value;
}

function isRow(value: unknown): value is Row {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
