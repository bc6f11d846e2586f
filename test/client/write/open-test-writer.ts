import type { IncomingMessage, ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import { openWriter, type Writer, type WriterOptions } from "../../../src/client/write/writer.js";
import { testKey } from "../open-test-http.js";

/** The document that the tests write to. */
export const place = { datasetId: "set", documentId: "doc" };

/** The writer under test, closed after the test. */
export function openTestWriter(baseUrl: string, options: Partial<WriterOptions> = {}): Writer {
  const writer = openWriter({ baseUrl, key: testKey, concurrency: 1, timeout: 5, ...options });
  onTestFinished(writer.close);
  return writer;
}

/** The body of a request, as text. */
export async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/** Answers with this status and this JSON; a string is sent unchanged. */
export function answering(status: number, body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return (_: IncomingMessage, response: ServerResponse) => void response.writeHead(status, headers).end(text);
}
