/** The state of a key in which a write takes place: nothing has the key, or the object there has this ETag. */
export type Condition = "absent" | { readonly etag: string };

/** A write took place; or the condition did not hold, and nothing was written. */
export type Written = { readonly etag: string } | "refused";

/** An object that was read whole. */
export interface Found {
  readonly bytes: Buffer;
  readonly etag: string;
  /** Milliseconds since it was written last, by the clock of the store alone, which counts in seconds. */
  readonly age: number;
}

/** The content that a file must have; undefined: whatever it is, its SHA-256 is right. */
export interface FileFacts {
  readonly bytes: number;
  readonly sha256: string | undefined;
}

/** The facts of an object that was not read. `sha256`: as kbdump noted it when it wrote the object. */
export interface ObjectFacts extends FileFacts {
  readonly etag: string;
}

/** The parts of a transfer that can be watched and ended. */
export interface Transfer {
  readonly signal?: AbortSignal;
  /** Called with the bytes that were transferred since the last call. */
  readonly onBytes?: (bytes: number) => void;
}

export interface PutFileOptions extends Transfer {
  readonly sha256: string;
  readonly condition?: Condition;
}

/** A multipart upload that is neither complete nor ended. Readers never see it, and S3 charges for it. */
export interface OpenUpload {
  readonly key: string;
  readonly id: string;
}

/**
 * A place in a bucket. Keys stand below its prefix. Every method rejects with StopError or UsageError, which say what failed and what
 * to do; a request without an answer is sent again, three times in all.
 */
export interface Bucket {
  /** `s3://bucket/prefix` */
  readonly url: string;
  /** Undefined where nothing has this key. */
  readonly read: (key: string) => Promise<Found | undefined>;
  /** Looks at an object without reading it. Undefined where nothing has this key. */
  readonly look: (key: string) => Promise<ObjectFacts | undefined>;
  /** The store checks the SHA-256 of all bytes. A write whose answer was lost is settled by looking at what is there. */
  readonly put: (key: string, bytes: Buffer, condition?: Condition) => Promise<Written>;
  /**
   * Uploads a local file; above 16 MB in parts. The store checks the SHA-256 of each part and the list of parts, and kbdump that of
   * the whole file against `sha256` before the object appears: a file that has changed is a StopError. An upload that fails is ended.
   */
  readonly putFile: (key: string, path: string, options: PutFileOptions) => Promise<Written>;
  /** Writes an object into a new local file. DamagedError, and no file, where the object is absent or has other bytes. */
  readonly fetchFile: (key: string, path: string, facts: FileFacts, transfer?: Transfer) => Promise<void>;
  /** The keys that begin with this text, in the order of their bytes. */
  readonly list: (prefix: string) => AsyncIterable<{ readonly key: string; readonly bytes: number }>;
  /** The names right behind this text that have keys below them, in the order of their bytes. The text is empty, or ends with a slash. */
  readonly folders: (prefix: string) => AsyncIterable<string>;
  /** Keys that are not there count as removed. */
  readonly remove: (keys: readonly string[]) => Promise<void>;
  /** Multipart uploads under way, or left behind, of keys that begin with this text. */
  readonly uploads: (prefix: string) => AsyncIterable<OpenUpload>;
  /** Ends a multipart upload, and frees its parts; one that is gone counts as ended. */
  readonly endUpload: (upload: OpenUpload) => Promise<void>;
  readonly close: () => Promise<void>;
}
