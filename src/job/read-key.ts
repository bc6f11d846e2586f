import { UsageError } from "../errors.js";
import type { ServiceOptions } from "./job.js";
import { fileText } from "./quoted-text.js";
import { readText } from "./read-text.js";

type KeyPlace = Pick<ServiceOptions, "apiKeyEnv" | "apiKeyFile">;

/**
 * Reads the key of the service from the file or the variable that the job names, without the white space around it.
 * Throws UsageError where there is none, or none that can be sent; no error shows the key.
 */
export async function readKey(service: KeyPlace, env: NodeJS.ProcessEnv): Promise<string> {
  const { apiKeyEnv: name, apiKeyFile: file } = service;
  if (file !== undefined) return keyFrom(await readText(file, "the key file"), placeOfKey(service));
  const value = env[name];
  if (value === undefined)
    throw new UsageError(`no key: the variable ${name} is not set. Set it: export ${name}=…`, []);
  return keyFrom(value, placeOfKey(service));
}

/** The place that the key comes from, as messages name it. */
export function placeOfKey({ apiKeyEnv, apiKeyFile }: KeyPlace): string {
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
