import type { ServedDump } from "../../src/serve/serve-dump.js";

/** An answer: its status and its parsed body. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly type: string | null;
}

/** Sends a request to a served dump with its key. */
export async function ask({ url, key }: Pick<ServedDump, "url" | "key">, path: string): Promise<Answer> {
  const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } });
  return { status: response.status, text: await response.text(), type: response.headers.get("content-type") };
}

/** A list in the format of the service. */
export interface List {
  readonly data: readonly Readonly<Record<string, unknown>>[];
  readonly total: number;
  readonly has_more?: boolean;
  readonly limit: number;
  readonly page: number;
  readonly doc_form?: string | null;
}

/** The JSON of an answer with status 200. */
export async function read(dump: Pick<ServedDump, "url" | "key">, path: string): Promise<List> {
  const { status, text } = await ask(dump, path);
  if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`);
  return JSON.parse(text);
}

/** The ids in a list, in order. */
export async function ids(dump: Pick<ServedDump, "url" | "key">, path: string): Promise<readonly unknown[]> {
  return (await read(dump, path)).data.map(({ id }) => id);
}
