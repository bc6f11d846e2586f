import { readFile } from "node:fs/promises";
import { jsonText, parseJson } from "../../rows/exact-json.js";
import { readRegular } from "./regular-file.js";
import { writeAside } from "./write-aside.js";

/** Writes a value whole or not at all, numbers exactly, for the owner only; it is on the disk when this resolves. */
export async function writeJsonFile(path: string, value: unknown): Promise<void> {
  await writeAside(path, jsonText(value));
}

/** A value that this program wrote in its own folder; undefined where there is none, or none that can be read. */
export async function readJsonFile(path: string): Promise<unknown> {
  return jsonFrom(readFile(path));
}

/** The same in a folder that is for others, too, where a named pipe may have the name of the file. */
export async function readSharedJson(path: string): Promise<unknown> {
  return jsonFrom(readRegular(path));
}

async function jsonFrom(reading: Promise<Buffer>): Promise<unknown> {
  try {
    return parseJson((await reading).toString("utf8"));
  } catch {
    return undefined;
  }
}
