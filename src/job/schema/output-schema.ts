import * as v from "valibot";
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

const metricsText = "the path of a file whose name ends in .prom";

/** The folder and formats of the result, and how long runs are kept. */
export const outputSchema = mapping("a mapping such as {dir: output, formats: [jsonl]}", {
  dir: v.pipe(
    v.nullish(
      v.pipe(
        filePath(dirText),
        v.check((dir) => !dir.includes("?"), dirText),
      ),
      "output",
    ),
    v.description("Folder of the results, made where there is none. Relative to the working directory."),
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
