import { invalidParam, Refusal } from "../../../src/demo/knowledge.js";
import { type Asked, jsonReply, type Route, route } from "../../../src/demo/routes.js";
import { accounts } from "../../../src/demo/rows.js";
import type { Place } from "./writable-knowledge.js";

/** A file as reported by the service, and its bytes. */
export interface StoredFile {
  readonly facts: {
    readonly id: string;
    readonly name: string;
    readonly size: number;
    readonly extension: string;
    readonly mime_type: string;
    readonly created_by: string;
    readonly created_at: number;
  };
  readonly bytes: Buffer | string;
}

/** A file in a request. */
export interface IncomingFile {
  readonly name: string;
  readonly mimeType: string;
  /** Default: the extension of its name. */
  readonly extension?: string;
  readonly bytes: Buffer;
}

/** Uploaded files by id. Like in the service, they are never deleted. */
export class UploadedFiles {
  readonly #files = new Map<string, StoredFile>();

  /** Adds a file. `time`: when it was uploaded, in Unix seconds. */
  add({ name, mimeType, extension = extensionOf(name), bytes }: IncomingFile, id: string, time: number): StoredFile {
    const size = bytes.length;
    const origin = { mime_type: mimeType, created_by: accounts.owner, created_at: time };
    const file = { facts: { id, name, size, extension, ...origin }, bytes };
    this.#files.set(id, file);
    return file;
  }

  find(id: unknown): StoredFile | undefined {
    return this.#files.get(String(id).toLowerCase());
  }
}

function extensionOf(name: string): string {
  return (/\.([^.]+)$/.exec(name)?.[1] ?? "").toLowerCase();
}

/** The route that uploads a file for chunks. */
export function uploadRoute({ files, options, store }: Place): readonly Route[] {
  const upload = route("POST", "/v1/datasets/pipeline/file-upload", async (asked) => {
    const file = await fileFrom(await formOf(asked));
    return jsonReply(201, files.add(file, options.newId(), Math.floor(store.now())).facts);
  });
  return [upload];
}

/** Parses a multipart/form-data body. Throws a 400 for any other body. */
export async function formOf({ bytes, headers }: Asked): Promise<FormData> {
  const body = await bytes();
  const init = { headers: { "content-type": headers["content-type"] ?? "" } };
  return new Response(body, init).formData().catch(() => {
    throw invalidParam("The body is no multipart/form-data.");
  });
}

/** The only file of a form. Throws a 400 if there is none or more than one, or if it has no name. */
export async function fileFrom(form: FormData): Promise<IncomingFile> {
  const [file, ...others] = [...form.values()].filter((value) => typeof value !== "string");
  if (!file || !form.has("file")) throw new Refusal(400, "no_file_uploaded", "Please upload your file.");
  if (others.length > 0) throw new Refusal(400, "too_many_files", "Only one file is allowed.");
  if (file.name.trim() === "") throw invalidParam("The specified filename does not exist.");
  const bytes = Buffer.from(await file.arrayBuffer());
  return { name: file.name, mimeType: file.type || "application/octet-stream", bytes };
}
