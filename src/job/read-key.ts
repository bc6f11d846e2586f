import { stat } from "node:fs/promises";
import { UsageError } from "../errors.js";
import type { ServiceOptions } from "./job.js";
import { fileText } from "./quoted-text.js";
import { readText } from "./read-text.js";
import { commandText, runKeyCommand } from "./run-key-command.js";

type KeyPlace = Pick<ServiceOptions, "apiKeyEnv"> & Partial<Pick<ServiceOptions, "apiKeyFile" | "apiKeyCommand">>;

export interface KeyOptions {
  /** Told of a key file that others can read. */
  readonly warn?: (message: string) => void;
  /** Ends a command. */
  readonly signal?: AbortSignal;
}

/**
 * Reads the key of the service from the command, the file or the variable that the job names, without the white space around
 * it. Throws UsageError where there is none, or none that can be sent; no error shows the key.
 */
export async function readKey(service: KeyPlace, env: NodeJS.ProcessEnv, options: KeyOptions = {}): Promise<string> {
  const { apiKeyEnv: name, apiKeyFile: file, apiKeyCommand: command } = service;
  const place = placeOfKey(service);
  if (command !== undefined) {
    const output = await runKeyCommand(command, { env, signal: options.signal });
    if (output.trim() === "") throw new UsageError(`no key: ${place} printed nothing`, []);
    return keyFrom(output, `the output of ${place}`);
  }
  if (file !== undefined) {
    const text = await readText(file, "the key file");
    if (await isOpenToOthers(file)) options.warn?.(`${place} can be read by others; chmod 600 ${fileText(file)}`);
    return keyFrom(text, place);
  }
  const value = env[name];
  if (value === undefined)
    throw new UsageError(`no key: the variable ${name} is not set. Set it: export ${name}=…`, []);
  return keyFrom(value, place);
}

/** The place that the key comes from, as messages name it. */
export function placeOfKey({ apiKeyEnv, apiKeyFile, apiKeyCommand }: KeyPlace): string {
  if (apiKeyCommand !== undefined) return commandText(apiKeyCommand);
  return apiKeyFile === undefined ? `the variable ${apiKeyEnv}` : `the key file ${fileText(apiKeyFile)}`;
}

function keyFrom(text: string, place: string): string {
  const key = text.trim();
  if (key === "") throw new UsageError(`no key: ${place} is empty. Put the key of the service there`, []);
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new UsageError(
    `the key in ${place} cannot be sent: it holds white space or characters that are not ASCII. Put the key alone there, without "Bearer"`,
    [],
  );
}

/** Whether a file of our own can be read by others. Files of somebody else, such as a mounted secret, are theirs to close. */
async function isOpenToOthers(file: string): Promise<boolean> {
  const user = process.getuid?.();
  if (user === undefined) return false; // Windows has no such modes
  const { mode, uid } = await stat(file);
  return uid === user && (mode & 0o077) !== 0;
}
