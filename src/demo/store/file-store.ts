/** A file that somebody uploaded, as the service says of it, and its bytes. `created_at` in Unix seconds. */
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
  readonly bytes: Buffer;
}

/** A file as it comes in. */
export interface IncomingFile {
  readonly name: string;
  readonly mimeType: string;
  /** That of its name by default. */
  readonly extension?: string;
  readonly bytes: Buffer;
}

/** Whose file it is, and when it came in, in Unix seconds. */
interface Arrival {
  readonly id: string;
  readonly by: string;
  readonly time: number;
}

/** The files that were uploaded, by id. None is ever deleted, as in the service. */
export class FileStore {
  readonly #files = new Map<string, StoredFile>();

  add({ name, mimeType, extension = extensionOf(name), bytes }: IncomingFile, { id, by, time }: Arrival): StoredFile {
    const facts = { id, name, size: bytes.length, extension, mime_type: mimeType, created_by: by, created_at: time };
    const file = { facts, bytes };
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
