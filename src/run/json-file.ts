import { readFile, rename, writeFile } from "node:fs/promises";
import { parseJson } from "../client/parse-json.js";
import { jsonText } from "../normalise/json-text.js";
import { flush } from "../sinks/flush.js";

/** Writes a value whole or not at all, numbers exactly, for the owner only; it is on the disk when this resolves. */
export async function writeJsonFile(path: string, value: unknown): Promise<void> {
  const aside = `${path}.part`;
  await writeFile(aside, jsonText(value), { mode: 0o600 });
  await flush(aside);
  await rename(aside, path);
}

/** A value that this program wrote; undefined where there is none, or none that can be read. */
export async function readJsonFile(path: string): Promise<unknown> {
  try {
    return parseJson(await readFile(path, "utf8"));
  } catch {
    return undefined;
  }
}
