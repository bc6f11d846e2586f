import type { StoredFile } from "../store/file-store.js";

/** A document whose file is made up: the same at every read. */
interface FiledDocument {
  readonly id: string;
  readonly name: string;
  readonly fileId: string;
  readonly by: string;
  /** Unix seconds. */
  readonly createdAt: number;
}

/** The facts of the file of a sample document, as the service tells them. */
export function sampleFacts({ id, name, fileId, by, createdAt }: FiledDocument): StoredFile["facts"] {
  return {
    id: fileId,
    name,
    size: Buffer.byteLength(sampleText(id, name)),
    extension: name.split(".").at(-1) ?? "",
    mime_type: "text/plain",
    created_by: by,
    created_at: createdAt,
  };
}

/** A stable text of some kilobytes. */
export function sampleText(id: string, name: string): string {
  const lines = 100 + (Number.parseInt(id.slice(0, 4), 16) % 400 || 0);
  return Array.from({ length: lines }, (_, at) => `${name}: line ${at + 1} of the original file\n`).join("");
}
