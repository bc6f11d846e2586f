import { join } from "node:path";
import { restoreFolderOf } from "../dump/manifest/run-id.js";

/**
 * The folder of what is restored from a run to a service: its journal, and the dumps that prove it. It is named after host and port, without
 * characters that some file systems refuse.
 */
export function moveFolderOf(runFolder: string, baseUrl: string): string {
  const { host } = new URL(baseUrl);
  return join(restoreFolderOf(runFolder), "to", host.replace(/[^a-z0-9.-]/g, "_"));
}

/** A base URL in the one form that all its spellings have: host in lower case, no usual port, no slashes at its end. */
export function plainBaseUrl(url: string): string {
  const plain = URL.canParse(url) ? new URL(url).href : url;
  return plain.replace(/\/+$/, "");
}

/** Whether two base URLs are of the same host and port: ids of files are the same there. */
export function isSameService(one: string, other: string): boolean {
  const originOf = (url: string) => (URL.canParse(url) ? new URL(url).origin : url);
  return originOf(one) === originOf(other);
}
