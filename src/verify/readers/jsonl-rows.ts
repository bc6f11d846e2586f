import type { Column } from "../../rows/column.js";
import { allKinds, columns, type Kind } from "../../rows/columns.js";
import { shortText } from "./long-text.js";
import { readRecords } from "./read-records.js";
import { readRows } from "./read-row.js";
import type { RowSource } from "./row-source.js";
import { RowError, type RowText } from "./row-text.js";
import { membersOf } from "./scan-json.js";

/** The rows of a JSONL file, one JSON object a line. */
export function jsonlRows(name: string, kind: Kind, path: string): RowSource {
  return {
    name,
    kind,
    async *read(problem) {
      let first = 1;
      for await (const records of readRecords(path, false)) {
        yield readRows(records, first, (text) => rowTextFromJson(kind, text), problem);
        first += records.length;
      }
    },
  };
}

/** The cells of a JSON object that has exactly the columns, in order, each of its type; RowError for any other. */
export function rowTextFromJson(kind: Kind, json: string): RowText {
  const object = objectFrom(json);
  const members = membersOf(json);
  const names = quotedNames.get(kind) ?? [];
  if (members.length !== names.length || !members.every((member, at) => member[0] === names[at])) {
    throw new RowError(`has other columns: ${members.map(([name]) => name.slice(1, -1)).join(", ")}`);
  }
  return columns[kind].map((column, at) => cellText(column, members[at]?.[1] ?? "", object[column.name]));
}

/** The names of the columns of each kind, in quotes as JSON has them: made once, because every row is compared with them. */
const quotedNames = new Map(allKinds.map((kind) => [kind, columns[kind].map(({ name }) => `"${name}"`)]));

function objectFrom(json: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new RowError(`is not valid JSON: ${error instanceof Error ? error.message : error}`);
  }
  if (!isObject(value)) throw new RowError("is not a JSON object");
  return value;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A string as it is, anything else as its JSON text. */
function cellText({ name, type }: Column, json: string, value: unknown): string | null {
  if (value === null) return null;
  const isString = typeof value === "string";
  if (type !== "any" && isString !== (type === "text" || type === "time")) {
    throw new RowError(`${name} is not of type ${type}: ${json.slice(0, 40)}`);
  }
  if (!isString) return json;
  return type === "text" ? shortText(value) : value;
}
