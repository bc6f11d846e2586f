import { StopError } from "../errors.js";
import { isToken } from "../run/work/fence.js";
import type { Tried } from "./exchange.js";

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
