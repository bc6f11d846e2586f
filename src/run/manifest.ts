import { open } from "node:fs/promises";
import type { Manifest } from "../dump/manifest.js";
import { flush } from "../files/flush.js";
import type { RequestSum } from "../store/request-sum.js";

/** The counts of requests as the manifest has them. */
export function requestCounts({ sent, retried, throttled, bytes }: RequestSum): Manifest["requests"] {
  return { sent, retried, throttled, bytes };
}

/** Characters that are written at once. */
const atOnce = 1_000_000;

/** Writes a manifest into the folder of a staged run, and brings it down to the disk. */
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

/** The JSON text of a manifest, a row at a time: that of many documents is hundreds of megabytes. */
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

/** The text of a value that stands so far to the right. */
function jsonAt(indent: string, value: unknown): string {
  return JSON.stringify(value, wellFormed, 2).replaceAll("\n", `\n${indent}`);
}

/** Half a surrogate pair in a word of the service would make JSON that others refuse. */
function wellFormed(_name: string, value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed() : value;
}
