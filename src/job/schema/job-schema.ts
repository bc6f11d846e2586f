import * as v from "valibot";
import { fileFormats } from "../../dump/formats/formats.js";
import { isMapping } from "../../schema.js";
import { brokenRule, isBucketUrl } from "../s3-url.js";
import { serviceSchema } from "./service-schema.js";
import {
  all,
  filePath,
  jobName,
  list,
  mapping,
  memorySize,
  positiveNumber,
  repeats,
  text,
  trueOrFalse,
  uuid,
  wholeNumber,
} from "./shapes.js";

const nameText = "a name of a-z, 0-9, _ and - that starts with a letter or digit, at most 100 characters";
const datasetsText = "a list of datasets, or the word all";

const documentsText = "a list of document UUIDs, or the word all";
const batchText = "a batch id: text that is not empty, nor . or ..";
const quotedBatchText = 'the batch id in quotes, as in "20250306120000123456": a number loses its last digits';

/** The name of a batch. It becomes a segment of a URL, where . and .. would change the path. */
const batch = v.pipe(
  v.string((issue) => (typeof issue.input === "number" ? quotedBatchText : batchText)),
  v.regex(/^(?!\.{0,2}$)/, batchText),
);

/** One dataset of the job: its documents, batches and filters. */
const datasetSchema = v.pipe(
  mapping("a mapping with id, and documents or batches", {
    id: v.pipe(uuid, v.description("The dataset's id, a UUID.")),
    documents: v.pipe(
      v.nullish(v.union([all, list("documents", "document", documentsText, uuid)], documentsText), []),
      v.description("Ids of the documents to read, or the word all: those that the service lists when the run begins."),
    ),
    batches: v.pipe(
      v.nullish(list("batches", "batch", "a list of batch ids", batch), []),
      v.description(
        "Batches whose indexing status to record; the service returned them when the documents were created. In quotes.",
      ),
    ),
    status: v.pipe(
      v.nullish(
        list("status", "status", "a list of statuses, such as [completed]", text("a status, such as completed")),
        [],
      ),
      v.description("Only chunks of these statuses. Absent or empty: all of them."),
    ),
    keyword: v.pipe(
      v.optional(text("text that is not empty, in quotes where it looks like a number")),
      v.description("Only chunks whose content contains this text."),
    ),
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!isMapping(dataset.value) || !isEmpty(dataset.value.documents) || !isEmpty(dataset.value.batches)) return;
    const input = { ...dataset.value };
    const place = { type: "object", origin: "value", input, key: "documents", value: input.documents } as const;
    addIssue({ message: "at least one document or batch, or the word all for documents", path: [place] });
  }),
);

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

const formatText = `${fileFormats.join(", ")} or duckdb`;
const keepText = "at least one of last, daily, weekly and monthly";

const format = v.picklist([...fileFormats, "duckdb"], formatText);
const runs = () => v.exactOptional(wholeNumber(1, 10_000));

const keep = v.pipe(
  mapping("a mapping such as {last: 14}", {
    last: v.pipe(runs(), v.description("The newest runs.")),
    daily: v.pipe(runs(), v.description("The newest run of each of this many days.")),
    weekly: v.pipe(runs(), v.description("The newest run of each of this many weeks.")),
    monthly: v.pipe(runs(), v.description("The newest run of each of this many months.")),
  }),
  v.minEntries(1, keepText),
);

const compression = v.picklist(["none", "gzip", "zstd"], "none, gzip or zstd");

/** The expected value of a folder setting. A question mark is not allowed, because DuckDB treats the text after it as options. */
const dirText = "the path of a folder, without a question mark in it";

const folderPath = v.pipe(
  filePath(dirText),
  v.check((dir) => !dir.includes("?"), dirText),
);

/** A folder, or a bucket prefix. */
const dir = v.pipe(
  folderPath,
  v.check(
    (text) => !isBucketUrl(text) || brokenRule(text) === undefined,
    ({ input }) => `s3://bucket/prefix; ${typeof input === "string" ? brokenRule(input) : ""}`,
  ),
);

const metricsText = "the path of a file whose name ends in .prom";

/** Where and in which formats results go, and how long runs are kept. */
const output = mapping("a mapping such as {dir: output, formats: [jsonl]}", {
  dir: v.pipe(
    v.nullish(dir, "output"),
    v.description(
      "Folder for the results, created if missing. Relative to the working directory. Or s3://bucket/prefix: see docs/s3.md.",
    ),
  ),
  work_dir: v.pipe(
    v.optional(folderPath),
    v.description(
      "With dir: s3://…, the local folder for work in progress and a copy of the database. Default: output/.s3/<bucket>/<prefix>.",
    ),
  ),
  formats: v.pipe(
    v.nullish(
      v.pipe(list("formats", "format", `a list of ${formatText}`, format), v.nonEmpty(`at least one of ${formatText}`)),
      ["jsonl", "duckdb"],
    ),
    v.description(`Formats to write, of ${fileFormats.join(", ")} and duckdb.`),
  ),
  keep: v.pipe(
    v.optional(keep),
    v.description("Runs to keep; runs that no rule keeps are deleted. Absent: all are kept."),
  ),
  keep_signatures: v.pipe(
    v.nullish(trueOrFalse, false),
    v.description("true: keep timestamp, nonce and sign in links to files. They open the file without a login."),
  ),
  csv_safe: v.pipe(
    v.nullish(trueOrFalse, false),
    v.description("true: guard CSV cells that a spreadsheet would run as formulas; such a file is not lossless."),
  ),
  compress: v.pipe(
    v.nullish(compression, "none"),
    v.description("Compression of the JSONL and CSV files of the run folder: none, gzip or zstd."),
  ),
  partition: v.pipe(
    v.nullish(v.picklist(["none", "dataset"], "none or dataset"), "none"),
    v.description(
      "dataset: chunks and child chunks go to one folder per dataset, named as Hive partitions, with documents sorted by id.",
    ),
  ),
  metrics_file: v.pipe(
    v.optional(v.pipe(filePath(metricsText), v.regex(/[^/]\.prom$/, metricsText))),
    v.description(
      "A world-readable copy of metrics.prom, for the textfile collector of node_exporter. Its folder must exist.",
    ),
  ),
  memory: v.pipe(
    v.nullish(memorySize, "500MB"),
    v.description("Memory that DuckDB may use while it builds its files, such as 800MB or 2GB."),
  ),
});

/** The output settings. The work folder is allowed only with a bucket. */
const outputSchema = v.pipe(
  output,
  v.forward(
    v.check(
      ({ dir, work_dir }) => work_dir === undefined || isBucketUrl(dir),
      "nothing, unless dir is s3://bucket/prefix",
    ),
    ["work_dir"],
  ),
);

/** The part of a job file that says where its runs are. */
export const locationEntries = {
  name: v.pipe(
    v.nullish(v.pipe(v.string(nameText), v.regex(jobName, nameText))),
    v.description("Name of the job and of its folder: a-z, 0-9, _ and -. Absent: the file's name."),
  ),
  output: v.pipe(v.nullish(outputSchema, {}), v.description("Where the result goes, and in which formats.")),
};

const notifyText = "a mapping such as {url: https://hc-ping.com/your-uuid}";
const someText = "at least one of url, start, success, partial and failure";
const urlText = "an https URL without user and password (http for this machine only)";

const url = (description: string) =>
  v.pipe(
    v.exactOptional(
      v.pipe(
        v.string(urlText),
        v.regex(/^[hH][tT][tT][pP][sS]?:\/\/[^\s\\/?#@]+([/?][^\s\\#]*)?$/, urlText),
        v.check(isSafe, urlText),
      ),
    ),
    v.description(description),
  );

/** The receivers of notifications. The URLs are secret, because anyone who has one can send false messages. */
const notifySchema = v.pipe(
  mapping(notifyText, {
    url: url(
      "Called at every end of a run; with /start appended at its start, and with /fail if the run is not complete.",
    ),
    start: url("Called at the start of a run, instead of url."),
    success: url("Called after a complete run, instead of url."),
    partial: url("Called after a partial run, instead of failure or url."),
    failure: url("Called after a failed run, instead of url."),
    style: v.pipe(
      v.exactOptional(v.picklist(["json", "teams"], "json or teams")),
      v.description(
        "Body of the calls. json, the default: figures, and a text that Slack shows. teams: an Adaptive Card, for a workflow of Microsoft Teams.",
      ),
    ),
  }),
  v.minEntries(1, someText),
  v.check(({ style, ...urls }) => Object.keys(urls).length > 0, someText),
);

/** The whole job file. It is used for the check, and to derive the JSON Schema for editors. */
export const jobSchema = mapping("a mapping with service, datasets and output", {
  name: locationEntries.name,
  service: v.pipe(serviceSchema, v.description("Where the knowledge service is, and the limits on requests.")),
  datasets: v.pipe(
    v.union([all, datasets], datasetsText),
    v.description(
      "Datasets to read, or the word all: every dataset that the service lists, with all of its documents.",
    ),
  ),
  child_chunks: v.pipe(
    v.nullish(v.picklist(["all", "auto", "none"], "all, auto or none"), "all"),
    v.description(
      "all: read the child list of every chunk. auto: read as few lists as the evidence allows; see docs/job-file.md. none: read no lists.",
    ),
  ),
  consistency: v.pipe(
    v.nullish(v.picklist(["anchored", "sweeps", "counts"], "anchored, sweeps or counts"), "anchored"),
    v.description(
      "anchored: every page of chunks is read once: the first, the last, then the others; then single rows must still have their ranks. Where that proves nothing, pages are read twice. sweeps: lists of several pages are read twice, and must agree. counts: as many rows as the total, which does not notice when as many rows are deleted as added.",
    ),
  ),
  details: v.pipe(
    v.nullish(v.union([v.literal("auto"), v.boolean()], "auto, true or false"), "auto"),
    v.description(
      "auto: also read the settings of datasets, and the details of documents whose chunks look edited, added or disabled: what a restore needs. true: the details of all documents, with their metadata values: what copy needs. false: none.",
    ),
  ),
  originals: v.pipe(
    v.nullish(trueOrFalse, false),
    v.description("true: also save the files that the documents were made from, and those attached to chunks."),
  ),
  resume_within: v.pipe(
    v.nullish(positiveNumber(8760, "a number of hours"), 48),
    v.description(
      "Hours after its start within which an interrupted run is resumed. Default: 48, so that a nightly job resumes.",
    ),
  ),
  output: locationEntries.output,
  notify: v.pipe(v.optional(notifySchema), v.description("URLs to call when a run starts and ends.")),
  $schema: v.pipe(
    v.optional(v.string("the address of a JSON Schema")),
    v.description("For editors; kbdump ignores it."),
  ),
});

/** A valid job file, with the names of the file. */
export type JobFile = v.InferOutput<typeof jobSchema>;
/** A job as users write it, with the names of docs/job-file.md. */
export type JobDefinition = v.InferInput<typeof jobSchema>;

function isEmpty(items: unknown): boolean {
  return Array.isArray(items) && items.length === 0;
}

function isSafe(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === "https:" || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
