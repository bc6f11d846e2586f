import * as v from "valibot";
import { isMapping } from "../../schema.js";
import { jobName } from "../job-name.js";
import { datasetSchema } from "./dataset-schema.js";
import { all, positiveNumber, trueOrFalse } from "./leaf.js";
import { mapping } from "./mapping.js";
import { notifySchema } from "./notify-schema.js";
import { outputSchema } from "./output-schema.js";
import { repeats } from "./repeats.js";
import { serviceSchema } from "./service-schema.js";

const nameText = "a name of a-z, 0-9, _ and - that starts with a letter or digit, at most 100 characters";
const datasetsText = "a list of datasets, or the word all";

const datasets = v.pipe(
  v.array(datasetSchema, datasetsText),
  v.nonEmpty("at least one dataset"),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!Array.isArray(dataset.value)) return;
    const input: unknown[] = dataset.value;
    for (const { key, first } of repeats(input.map((item) => isMapping(item) && item.id))) {
      const message = `each dataset once; datasets[${first}] is the same`;
      const id = { type: "object", origin: "value", input: {}, key: "id", value: undefined } as const;
      addIssue({ message, path: [{ type: "array", origin: "value", input, key, value: input[key] }, id] });
    }
  }),
);

/** The part of a job file that says where its runs are. */
export const placeEntries = {
  name: v.pipe(
    v.nullish(v.pipe(v.string(nameText), v.regex(jobName, nameText))),
    v.description("Name of the job and of its folder: a-z, 0-9, _ and -. Absent: the file's name."),
  ),
  output: v.pipe(v.nullish(outputSchema, {}), v.description("Where the result goes, and in which formats.")),
};

/** The whole job file: what is checked, and what the JSON Schema for editors is derived from. */
export const jobSchema = mapping("a mapping with service, datasets and output", {
  name: placeEntries.name,
  service: v.pipe(serviceSchema, v.description("Where the knowledge service is, and how hard it may be asked.")),
  datasets: v.pipe(
    v.union([all, datasets], datasetsText),
    v.description(
      "Datasets to read, or the word all: every dataset that the service lists, with all of its documents.",
    ),
  ),
  child_chunks: v.pipe(
    v.nullish(v.picklist(["all", "auto", "none"], "all, auto or none"), "all"),
    v.description(
      "all: ask for the child list of every chunk. auto: as few lists as the evidence allows; see docs/job-file.md. none: do not ask for any.",
    ),
  ),
  consistency: v.pipe(
    v.nullish(v.picklist(["sweeps", "counts", "anchored"], "sweeps, counts or anchored"), "sweeps"),
    v.description(
      "sweeps: lists of several pages are read twice, and must agree. anchored: every page of chunks is read once, the last one second, and two rows must keep their ranks; swept where that proves nothing. counts: as many rows as the total, which cannot see as many rows deleted as added.",
    ),
  ),
  details: v.pipe(
    v.nullish(trueOrFalse, false),
    v.description("true: also read the settings of datasets and documents, and metadata values: what a restore needs."),
  ),
  originals: v.pipe(
    v.nullish(trueOrFalse, false),
    v.description("true: also save the files that the documents were made from, and those attached to chunks."),
  ),
  resume_within: v.pipe(
    v.nullish(positiveNumber(8760, "a number of hours"), 24),
    v.description("Hours within which a run that broke off is continued. Default: 24."),
  ),
  output: placeEntries.output,
  notify: v.pipe(v.optional(notifySchema), v.description("URLs to call when a run starts and when it is over.")),
  $schema: v.pipe(v.optional(v.string("the address of a JSON Schema")), v.description("For editors; not read.")),
});

/** A job file that holds what the schema says, under the names of the file. */
export type JobFile = v.InferOutput<typeof jobSchema>;
