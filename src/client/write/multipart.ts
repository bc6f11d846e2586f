import { openAsBlob } from "node:fs";
import { stat } from "node:fs/promises";
import { FormData } from "undici";
import { SkipError } from "../../errors.js";
import { problemText } from "../../file-error.js";
import { jsonText } from "../../rows/exact-json.js";

/** A file on disk that is sent. */
export interface LocalFile {
  readonly path: string;
  /** Its name in the service. */
  readonly name: string;
  /** Null: the service goes by the name. */
  readonly mime_type: string | null;
}

/** A multipart form: JSON as the part `data`, if there is any, and the file as the part `file`. */
export interface Multipart {
  readonly data?: object;
  readonly file: LocalFile;
}

/**
 * Sends a form. Its file is read while it is sent, so that it is never in memory as a whole. SkipError where the file cannot be read, or
 * changes while it is sent: nothing was done, since the form had no end.
 */
export async function sendForm<T>({ data, file }: Multipart, send: (form: FormData) => Promise<T>): Promise<T> {
  const blob = await openFile(file);
  const form = new FormData();
  if (data !== undefined) form.append("data", jsonText(data));
  form.append("file", blob, file.name);
  try {
    return await send(form);
  } catch (error) {
    throw isUnreadable(error) ? unreadable(file, "it changed while it was sent", error) : error;
  }
}

/** Whether an error is of a file that could not be read while it was sent. */
export function isUnreadable(error: unknown): boolean {
  return error instanceof Error && error.name === "NotReadableError";
}

async function openFile(file: LocalFile): Promise<Blob> {
  const type = file.mime_type === null ? {} : { type: file.mime_type };
  try {
    if (!(await stat(file.path)).isFile()) throw new Error("it is no file");
    return await openAsBlob(file.path, type);
  } catch (error) {
    throw unreadable(file, problemText(error), error);
  }
}

function unreadable({ path }: LocalFile, reason: string, cause: unknown): SkipError {
  return new SkipError(`${path}: the file cannot be read, and was not sent: ${reason}`, { cause });
}
