import { open } from "node:fs/promises";
import type { Manifest } from "../dump/manifest.js";
import { flush } from "../files/flush.js";
import type { RequestSum } from "../segments/request-sum.js";

/** The request counts as the manifest stores them. */
export function requestCounts({ sent, retried, throttled, bytes }: RequestSum): Manifest["requests"] {
  return { sent, retried, throttled, bytes };
}

/** Characters of JSON text to collect before writing them. */
const atOnce = 1_000_000;

/** Writes and flushes the manifest of a staged run. */
export async function writeManifest(path: string, manifest: Manifest): Promise<void> {
  const file = await open(path, "w", 0o600);
  try {
    let text = "";
    for (const piece of manifestPieces(manifest)) {
      text += piece;
      if (text.length < atOnce) continue;
      await file.writeFile(text);
      text = "";
    }
    await file.writeFile(text);
  } finally {
    await file.close();
  }
  await flush(path);
}

/** Yields the JSON text of a manifest row by row. With many documents, the text has hundreds of megabytes. */
export function* manifestPieces(manifest: object): Generator<string> {
  let before = "{\n";
  for (const [name, value] of Object.entries(manifest)) {
    if (value === undefined) continue;
    yield `${before}  ${JSON.stringify(name)}: `;
    if (Array.isArray(value) && value.length > 0) yield* rowPieces(value);
    else yield jsonAt("  ", value);
    before = ",\n";
  }
  yield before === ",\n" ? "\n}\n" : "{}\n";
}

function* rowPieces(rows: readonly unknown[]): Generator<string> {
  let before = "[\n";
  for (const row of rows) {
    yield `${before}    ${jsonAt("    ", row)}`;
    before = ",\n";
  }
  yield "\n  ]";
}

/** The JSON text of a value, indented by `indent`. */
function jsonAt(indent: string, value: unknown): string {
  return JSON.stringify(value, wellFormed, 2).replaceAll("\n", `\n${indent}`);
}

/** Repairs lone surrogates in texts of the service, because other JSON parsers reject them. */
function wellFormed(_name: string, value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed() : value;
}
