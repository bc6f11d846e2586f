/**
 * Part of the build, not of the package: `node dist/job/write-json-schema.js` writes dist/job.schema.json. Nothing else in src may
 * import this module, because @valibot/to-json-schema is a development dependency.
 */

import { realpathSync, writeFileSync } from "node:fs";
import { toJsonSchema } from "@valibot/to-json-schema";
import { jobSchema } from "./schema/job-schema.js";

/** The JSON Schema (draft 7) of the job file as users write it, with `${NAME}` in its strings. */
export function jobJsonSchema(): object {
  const schema = toJsonSchema(jobSchema, {
    // Describes a pipe by its last schema. Transformations change no keys, so the result is what users write.
    typeMode: "output",
    // Checks that JSON Schema cannot express. Anything else that cannot be converted fails the build.
    ignoreActions: ["check", "raw_check", "to_lower_case", "transform"],
    overrideAction: ({ valibotAction, jsonSchema }) =>
      valibotAction.type === "regex" ? { ...jsonSchema, pattern: `${jsonSchema.pattern}|\\$\\{` } : undefined,
  });
  return { ...schema, title: "Job file of kbdump" };
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === import.meta.filename) {
  writeFileSync(new URL("../job.schema.json", import.meta.url), `${JSON.stringify(jobJsonSchema(), null, 2)}\n`);
}
