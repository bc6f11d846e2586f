import { StopError } from "../../errors.js";
import type { Fingerprint } from "../../files/join-segments.js";
import { isToken } from "../../store/folder/fence.js";

/** The reading of a document that a worker has begun: a local folder of its own, which holds nothing else. */
export interface Attempt {
  /** Tells this attempt from every other one at the same document. */
  readonly token: string;
  readonly folder: string;
  /**
   * Submits the files, which are closed, with a result that names them: all of it or nothing. `late`: the run is over, or it has a
   * result of this document already; nothing was changed. StopError where a file has not the bytes that were written to it.
   */
  readonly submit: (files: readonly AttemptFile[], result: string) => Promise<"first" | "late">;
  /** Says that this attempt did not read the document whole. Nothing is changed where the run is over. */
  readonly giveUp: (reason: string) => Promise<void>;
  /** Removes what the attempt left on this machine. */
  readonly drop: () => Promise<void>;
}

/** A file in the folder of an attempt, by its name. */
export interface AttemptFile extends Fingerprint {
  readonly file: string;
}

/** One attempt that did not read its document whole, as a worker reported it. */
export interface Tried {
  /** The document, by the name of its parts. */
  readonly name: string;
  readonly token: string;
}

/**
 * The place where the workers of one run leave what they read, in the output of the job. It is the only truth about their work. A
 * worker that wakes late finds it gone, and changes nothing.
 */
interface SharedFiles {
  /** Its path or address, for messages. */
  readonly shown: string;
  /** The content of a file beside the results, by its name; undefined where the run is over, or this machine does not see its output. */
  readonly read: (file: string) => Promise<string | undefined>;
}

/** An exchange as a worker uses it. */
export interface Exchange extends SharedFiles {
  /** Begins to read the document of this name; undefined where the run is over. */
  readonly begin: (name: string) => Promise<Attempt | undefined>;
}

/** An exchange as its coordinator uses it. */
export interface OwnExchange extends SharedFiles {
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
  /** Removes the place. Later work of a worker has no effect. */
  readonly remove: () => Promise<void>;
}

/** Checks a name that other machines gave, before it becomes a part of a path or key. StopError for one that could lead elsewhere. */
export function requireName(name: string): string {
  if (isName(name)) return name;
  throw new StopError(
    `${JSON.stringify(name.slice(0, 80))} names no file or document of an exchange: something else than kbdump wrote it there`,
  );
}

/** Whether a name is one of a document or file: without a folder in it, and not hidden. */
export function isName(name: string): boolean {
  return /^\w[\w.]*$/.test(name);
}

/** The name of the folder, or the beginning of the keys, of one attempt. */
export function nameOfAttempt({ name, token }: Tried): string {
  if (!isToken(token)) throw new StopError(`${JSON.stringify(token.slice(0, 80))} is no UUID, so it names no attempt`);
  return `${requireName(name)}.${token}`;
}

/** The file in which a worker says why an attempt did not read its document whole. */
export function nameOfReason(tried: Tried): string {
  return `${nameOfAttempt(tried)}.txt`;
}

/** The attempt of which a file tells; undefined for a file of another name. */
export function triedFrom(file: string): Tried | undefined {
  const [, name = "", token = ""] = /^(.+)\.([^.]+)\.txt$/.exec(file) ?? [];
  return isName(name) && isToken(token) ? { name, token } : undefined;
}

/** A file of a result is not there, or has other bytes than its worker wrote. Its document can be read again. */
export class DamagedFileError extends StopError {
  /** `place`: the path or address of the file. */
  constructor(place: string, difference: string, cause?: unknown) {
    super(
      `${place} is not what a worker wrote there: ${difference}. Its document has to be read again. Check the disk or the store`,
      { cause },
    );
  }
}
