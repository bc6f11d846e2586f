import * as v from "valibot";
import { brokenRule, isBucketUrl } from "../../bucket/s3-url.js";
import { missingCompression } from "../../dump/files/compression.js";
import { fileFormats } from "../../dump/formats/formats.js";
import { filePath, memorySize, trueOrFalse, wholeNumber } from "./leaf.js";
import { list } from "./list.js";
import { mapping } from "./mapping.js";

const formatText = `${fileFormats.join(", ")} or duckdb`;
const keepText = "at least one of last, daily, weekly and monthly";

const format = v.picklist([...fileFormats, "duckdb"], formatText);
const runs = () => v.exactOptional(wholeNumber(1, 10_000));

const keep = v.pipe(
  mapping("a mapping such as {last: 14}", {
    last: v.pipe(runs(), v.description("The newest runs.")),
    daily: v.pipe(runs(), v.description("The newest run of each of so many days.")),
    weekly: v.pipe(runs(), v.description("The newest run of each of so many weeks.")),
    monthly: v.pipe(runs(), v.description("The newest run of each of so many months.")),
  }),
  v.minEntries(1, keepText),
);

const compression = v.pipe(
  v.picklist(["none", "gzip", "zstd"], "none, gzip or zstd"),
  v.check(
    (name) => missingCompression(name) === undefined,
    ({ input }) => `none or gzip: ${missingCompression(input)}`,
  ),
);

/** DuckDB takes what stands behind a question mark for options. */
const dirText = "the path of a folder, without a question mark in it";

const folderPath = v.pipe(
  filePath(dirText),
  v.check((dir) => !dir.includes("?"), dirText),
);

/** A folder, or a place in a bucket. */
const dir = v.pipe(
  folderPath,
  v.check(
    (text) => !isBucketUrl(text) || brokenRule(text) === undefined,
    ({ input }) => `s3://bucket/prefix; ${typeof input === "string" ? brokenRule(input) : ""}`,
  ),
);

const metricsText = "the path of a file whose name ends in .prom";

/** The place and formats of the result, and how long runs are kept. */
const output = mapping("a mapping such as {dir: output, formats: [jsonl]}", {
  dir: v.pipe(
    v.nullish(dir, "output"),
    v.description(
      "Folder of the results, made where there is none. Relative to the working directory. Or s3://bucket/prefix: see docs/s3.md.",
    ),
  ),
  work_dir: v.pipe(
    v.optional(folderPath),
    v.description(
      "With dir: s3://…, the local folder for what is in work, and for a copy of the database. Default: output/.s3/<bucket>/<prefix>.",
    ),
  ),
  allow_unsafe_lock: v.pipe(
    v.nullish(trueOrFalse, false),
    v.description(
      "true: use a bucket whose store ignores conditions of writes. Two runs at once may then undo each other's changes.",
    ),
  ),
  formats: v.pipe(
    v.nullish(
      v.pipe(list("formats", "format", `a list of ${formatText}`, format), v.nonEmpty(`at least one of ${formatText}`)),
      ["jsonl", "duckdb"],
    ),
    v.description(`Formats to write, of ${fileFormats.join(", ")} and duckdb.`),
  ),
  keep: v.pipe(v.optional(keep), v.description("Runs to keep; what no rule names is deleted. Absent: all are kept.")),
  keep_signatures: v.pipe(
    v.nullish(trueOrFalse, false),
    v.description("true: leave timestamp, nonce and sign in links to files. Whoever has them can open the file."),
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
      "dataset: chunks and child chunks lie in a folder for each dataset, as Hive names partitions, with the documents in the order of their ids.",
    ),
  ),
  metrics_file: v.pipe(
    v.optional(v.pipe(filePath(metricsText), v.regex(/[^/]\.prom$/, metricsText))),
    v.description(
      "A copy of metrics.prom that everybody can read, for the textfile collector of node_exporter. Its folder must exist.",
    ),
  ),
  memory: v.pipe(
    v.nullish(memorySize, "500MB"),
    v.description("Memory that DuckDB may use while it builds its files, such as 800MB or 2GB."),
  ),
});

/** The same, where the folder of a bucket's work stands only beside a bucket. */
export const outputSchema = v.pipe(
  output,
  v.forward(
    v.check(
      ({ dir, work_dir }) => work_dir === undefined || isBucketUrl(dir),
      "nothing, unless dir is s3://bucket/prefix",
    ),
    ["work_dir"],
  ),
);
