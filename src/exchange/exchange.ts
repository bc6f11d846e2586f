import type { Fingerprint } from "../dump/files/join-parts.js";

/** The reading of a document that a worker has begun: a local folder of its own, which holds nothing else. */
export interface Attempt {
  /** Tells this attempt from every other one at the same document. */
  readonly token: string;
  readonly folder: string;
  /**
   * Hands over the files, which are closed, with a result that names them: all of it or nothing. `late`: the run is over, or it has a
   * result of this document already; nothing was changed. StopError where a file has not the bytes that were written to it.
   */
  readonly hand: (files: readonly AttemptFile[], result: string) => Promise<"first" | "late">;
  /** Says that this attempt did not read the document whole. Nothing is changed where the run is over. */
  readonly giveUp: (reason: string) => Promise<void>;
  /** Removes what the attempt left on this machine. */
  readonly drop: () => Promise<void>;
}

/** A file in the folder of an attempt, by its name. */
export interface AttemptFile extends Fingerprint {
  readonly file: string;
}

/** One attempt that did not read its document whole, as a worker told of it. */
export interface Tried {
  /** The document, by the name of its parts. */
  readonly name: string;
  readonly token: string;
}

/**
 * The place where the workers of one run leave what they read, in the output of the job. It is the only truth about their work. A
 * worker that wakes late finds it gone, and changes nothing.
 */
interface Place {
  /** Its path or address, for messages. */
  readonly shown: string;
  /** The content of a file beside the results, by its name; undefined where the run is over, or this machine does not see its output. */
  readonly read: (file: string) => Promise<string | undefined>;
}

/** An exchange as a worker uses it. */
export interface Exchange extends Place {
  /** Begins to read the document of this name; undefined where the run is over. */
  readonly begin: (name: string) => Promise<Attempt | undefined>;
}

/** An exchange as its coordinator uses it. */
export interface OwnExchange extends Place {
  /** Writes a file beside the results, whole or not at all. */
  readonly write: (file: string, content: string) => Promise<void>;
  /** The names of the documents that have a result, in no order. */
  readonly results: () => Promise<readonly string[]>;
  /** The result of a document, which a power cut may have torn; undefined where there is none. */
  readonly result: (name: string) => Promise<string | undefined>;
  /** The attempts that did not read their document whole. */
  readonly tried: () => Promise<readonly Tried[]>;
  readonly reason: (tried: Tried) => Promise<string | undefined>;
  /** Forgets a result, whose files turned out damaged, so that the document can be read again. */
  readonly forget: (name: string) => Promise<void>;
  /**
   * Takes a file of the attempt whose result counts: brings it to a path, where it replaces a file. DamagedFileError where it is not
   * there, or has other bytes.
   */
  readonly take: (name: string, token: string, file: AttemptFile, path: string) => Promise<void>;
  /** Removes the place. Whatever a worker does from now on is in vain. */
  readonly remove: () => Promise<void>;
}
