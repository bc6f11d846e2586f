/**
 * Part of the build, not of the package: `node dist/results/write-schemas.js` writes dist/schemas/<name>.schema.json. Nothing
 * else in src may import this module, as @valibot/to-json-schema is a development dependency.
 */

import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { toJsonSchema } from "@valibot/to-json-schema";
import { schemas } from "./schemas.js";

/** The JSON Schemas (draft 7) of everything that the program prints as JSON, by name. */
export function resultJsonSchemas(): ReadonlyMap<string, object> {
  const titles: Readonly<Record<string, string>> = {
    error: "Error of kbdump with --json",
    log: "Line of kbdump --log-format json",
    restore: "Result of kbdump restore --lost --json",
    "restore-to": "Result of kbdump restore --to --json",
    "status-watch": "Result of kbdump status --watch --json",
  };
  return new Map(
    Object.entries(schemas).map(([name, schema]) => {
      const title = titles[name] ?? `Result of kbdump ${name} --json`;
      return [name, { ...toJsonSchema(schema, { ignoreActions: ["readonly"] }), title }] as const;
    }),
  );
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === import.meta.filename) {
  const folder = new URL("../schemas/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  for (const [name, schema] of resultJsonSchemas())
    writeFileSync(new URL(`${name}.schema.json`, folder), `${JSON.stringify(schema, null, 2)}\n`);
}
