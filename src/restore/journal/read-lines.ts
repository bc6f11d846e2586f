import { readFile, truncate } from "node:fs/promises";
import type * as v from "valibot";
import { StopError } from "../../errors.js";
import { check } from "../../schema.js";

/**
 * The lines of a journal, each by this schema; none where there is no file. A torn last line counts as none: nothing was sent before it
 * was whole. StopError, naming the line, where one is damaged. Changes nothing.
 */
export async function readLines<const Schema extends v.GenericSchema>(
  path: string,
  schema: Schema,
): Promise<readonly v.InferOutput<Schema>[]> {
  const text = await textOf(path);
  return wholeLines(text)
    .split("\n")
    .slice(0, -1)
    .map((line, at) => lineFrom(line, schema, `${path}:${at + 1}`));
}

/** Cuts off a torn last line, so that others can be added. */
export async function cutTornLine(path: string): Promise<void> {
  const text = await textOf(path);
  const whole = wholeLines(text);
  if (whole !== text) await truncate(path, Buffer.byteLength(whole));
}

async function textOf(path: string): Promise<string> {
  return readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
}

function wholeLines(text: string): string {
  return text.slice(0, text.lastIndexOf("\n") + 1);
}

function lineFrom<const Schema extends v.GenericSchema>(
  text: string,
  schema: Schema,
  place: string,
): v.InferOutput<Schema> {
  const line = check(schema, parsed(text));
  if (!line.problems) return line.value;
  const [{ path, message } = { path: "", message: "" }] = line.problems;
  throw new StopError(
    `${place}: the journal is damaged: ${[path, message].filter(Boolean).join(": ")}; compare the documents by hand, then move it away`,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
