import { isListed, type Listed } from "../client/check-list.js";

const none: readonly Listed[] = [];

/**
 * The children that a chunk carries, in the order of the service: none where the field is absent, null or empty. Undefined
 * where they cannot be taken for child chunks: no array of objects with an id each, or an id twice.
 */
export function embeddedChildren({ child_chunks: value }: Listed): readonly Listed[] | undefined {
  if (value === undefined || value === null) return none;
  if (!Array.isArray(value)) return undefined;
  if (value.length === 0) return none;
  if (!value.every(isListed)) return undefined;
  return new Set(value.map(({ id }) => id)).size === value.length ? value : undefined;
}
