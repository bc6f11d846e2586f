import { isMapping } from "../../src/schema.js";

/** All nested schemas with properties, each with the path of the property that it describes. */
export function schemaMappings(
  node: unknown,
  path = "",
): readonly (readonly [path: string, node: Record<string, unknown>])[] {
  if (Array.isArray(node)) return node.flatMap((item) => schemaMappings(item, path));
  if (!isMapping(node)) return [];
  const own = isMapping(node.properties) ? ([[path, node]] as const) : [];
  const properties = Object.entries(isMapping(node.properties) ? node.properties : {});
  const inside = properties.flatMap(([key, property]) => schemaMappings(property, path ? `${path}.${key}` : key));
  return [...own, ...inside, ...schemaMappings(node.anyOf, path), ...schemaMappings(node.items, `${path}[]`)];
}

export function keysOf(value: unknown): readonly string[] {
  return isMapping(value) ? Object.keys(value) : [];
}
