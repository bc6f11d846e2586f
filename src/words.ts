import { blankControls, cutText } from "./safe-text.js";

/** `1 row`, `17 rows`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** `a, b and c`. */
export function listText(items: readonly string[], last = "and"): string {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} ${last} ${items.at(-1)}`;
}

/** A shard's number, from 1, and the number of shards. */
export interface ShardNumber {
  readonly index: number;
  readonly count: number;
}

/** `shard 3 of 16`. */
export function shardText({ index, count }: ShardNumber): string {
  return `shard ${index} of ${count}`;
}

/** Maximum characters of a document name to show. Names are file names and can be just as long. */
const longestName = 60;

/** `"Handbook" (a8e0e5b5-…)`, on one line; only the id if there is no name, or if the name is the id. */
export function nameAndId(name: string | null | undefined, id: string): string {
  const known = name === id ? "" : nameText(name ?? "");
  return known === "" ? id : `${known} (${id})`;
}

/** `"Handbook"`, on one line; empty for a blank name. */
export function nameText(name: string): string {
  const shown = blankControls(name).trim();
  return shown === "" ? "" : `"${cutText(shown, longestName)}"`;
}

/** Moves the request of a message to its end, because its URL may be long: `GET https://…: 404` becomes `404 (GET https://…)`. */
export function causeFirst(message: string): string {
  return message.replace(/\b([A-Z]{3,6} https?:\/\/\S+): (.*)$/m, "$2 ($1)");
}
