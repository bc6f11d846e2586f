import { readFile, stat } from "node:fs/promises";
import { UsageError } from "../errors.js";
import { fileText } from "./quoted-text.js";

/** A job of 100,000 documents has 4 MB; a file that is larger than this is something else, such as a database. */
const largest = 16_000_000;

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "no permission to read it",
  EPERM: "no permission to read it",
};

/**
 * Reads a UTF-8 text of so many bytes at the most; `what` names its role (`the job file`). Throws UsageError, one plain
 * sentence, if it cannot.
 */
export async function readText(file: string, what: string, most = largest): Promise<string> {
  const { text, reason } = await tryRead(file, most);
  if (text === undefined) throw new UsageError(`cannot read ${what} ${fileText(file)}: ${reason}`, []);
  return text;
}

type Read = { readonly text: string; readonly reason?: never } | { readonly text?: never; readonly reason: string };

async function tryRead(file: string, most: number): Promise<Read> {
  try {
    if ((await stat(file)).size > most) return { reason: `it is larger than ${most / 1_000_000} MB` };
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(await readFile(file)) };
  } catch (error) {
    return { reason: reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
  if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") return "it is not UTF-8 text";
  return reasons[code] ?? code;
}
