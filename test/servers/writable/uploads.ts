import { invalidParam, Refusal } from "../../../src/demo/knowledge.js";
import { type Asked, jsonReply, type Route, route } from "../../../src/demo/routes.js";
import { accounts, type StoredFile } from "../../../src/demo/rows.js";
import type { Place } from "./writable-knowledge.js";

/** A file as it comes in. */
export interface IncomingFile {
  readonly name: string;
  readonly mimeType: string;
  /** That of its name by default. */
  readonly extension?: string;
  readonly bytes: Buffer;
}

/** The files that were uploaded, by id. None is ever deleted, as in the service. */
export class UploadedFiles {
  readonly #files = new Map<string, StoredFile>();

  /** Adds a file that came in at a time, in Unix seconds. */
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

/** The fields and files of a body that is multipart/form-data. Throws a 400 for any other. */
export async function formOf({ bytes, headers }: Asked): Promise<FormData> {
  const body = await bytes();
  const init = { headers: { "content-type": headers["content-type"] ?? "" } };
  return new Response(body, init).formData().catch(() => {
    throw invalidParam("The body is no multipart/form-data.");
  });
}

/** The one file of a form. Throws a 400 for none, for more than one, and for one without a name. */
export async function fileFrom(form: FormData): Promise<IncomingFile> {
  const [file, ...others] = [...form.values()].filter((value) => typeof value !== "string");
  if (!file || !form.has("file")) throw new Refusal(400, "no_file_uploaded", "Please upload your file.");
  if (others.length > 0) throw new Refusal(400, "too_many_files", "Only one file is allowed.");
  if (file.name.trim() === "") throw invalidParam("The specified filename does not exist.");
  const bytes = Buffer.from(await file.arrayBuffer());
  return { name: file.name, mimeType: file.type || "application/octet-stream", bytes };
}
