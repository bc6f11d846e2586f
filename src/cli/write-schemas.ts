/**
 * Part of the build, not of the package: `node dist/cli/write-schemas.js` writes dist/schemas/<name>.schema.json. Nothing else in
 * src may import this module, because @valibot/to-json-schema is a development dependency.
 */

import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { toJsonSchema } from "@valibot/to-json-schema";
import type { GenericSchema } from "valibot";
import { errorResult, logLine } from "./log-schema.js";
import { commandsIn, loadAll, type Registry } from "./registry.js";

/** The JSON Schemas (draft 7) of all JSON that the program prints, by name. */
export async function resultJsonSchemas(registry: Registry): Promise<ReadonlyMap<string, object>> {
  const commands = await loadAll(registry);
  const schemas = Object.assign({ error: errorResult, log: logLine }, ...commands.map(({ results }) => results()));
  return new Map(
    Object.entries<GenericSchema>(schemas).map(([name, schema]) => {
      const title = `Result of kbdump ${name} --json`;
      return [name, { title, ...toJsonSchema(schema, { ignoreActions: ["readonly", "safe_integer"] }) }] as const;
    }),
  );
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === import.meta.filename) {
  const folder = new URL("../schemas/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  for (const [name, schema] of await resultJsonSchemas(commandsIn(new URL("../commands/", import.meta.url))))
    writeFileSync(new URL(`${name}.schema.json`, folder), `${JSON.stringify(schema, null, 2)}\n`);
}
