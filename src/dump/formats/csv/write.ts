import { join } from "node:path";
import type { ColumnType } from "../../../rows/column.js";
import { columns } from "../../../rows/columns.js";
import { ExactNumber, jsonText } from "../../../rows/exact-json.js";
import { joinParts } from "../../files/join-parts.js";
import { makeFolders } from "../../files/make-folders.js";
import { fileName } from "../file-name.js";
import { type StagedFile, type TextFormat, textFile, type Writer, type WriterOptions } from "../format.js";
import { type CsvCell, csvLines } from "./csv-lines.js";

/**
 * RFC 4180, UTF-8, LF, with a header. Null is empty and unquoted, the empty string is `""`. `safe` puts an apostrophe
 * before cells that a spreadsheet would run as formulas, which is not lossless.
 */
export function csvText(safe: boolean): TextFormat {
  return {
    format: "csv",
    head: (kind) => `${columns[kind].map(({ name }) => name).join(",")}\n`,
    texts: (kind, rows) => {
      const cells = rows.map((row) => columns[kind].map(({ name, type }) => cell(type, row[name])));
      return rows.length > 0 ? [csvLines(cells, safe)] : [];
    },
  };
}

/** The text that is written while the crawl goes on. */
export function openText({ csvSafe }: Pick<WriterOptions, "csvSafe">): TextFormat {
  return csvText(csvSafe);
}

/** The parts of every kind, joined below its header. */
export function openWriter({ csvSafe, duckDb: { signal } }: WriterOptions): Writer {
  const text = csvText(csvSafe);
  return {
    format: "csv",
    text,
    finish: async ({ folder, compression, tables }) => {
      const files: StagedFile[] = [];
      for (const { kind, dataset, rows, parts } of tables) {
        const path = fileName({ kind, format: "csv", dataset, compression });
        await makeFolders(folder, path);
        const joined = await joinParts(join(folder, path), text.head(kind), parts("csv"), { compression, signal });
        files.push(textFile(path, rows, joined));
      }
      return files;
    },
  };
}

/** A string as it is, a number as a number so that no minus sign is taken for a formula, all else as JSON text. */
function cell(type: ColumnType, value: unknown): CsvCell {
  if (value === null || value === undefined) return null;
  if (typeof value === "number") return value;
  if (type === "integer" && value instanceof ExactNumber) return BigInt(value.text);
  if (typeof value === "string" && type !== "object") return value;
  return jsonText(value);
}
