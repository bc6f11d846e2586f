import type { DuckDBValue } from "@duckdb/node-api";
import { UsageError } from "../errors.js";
import { ExactNumber, parseJson } from "../rows/exact-json.js";
import { type Connection, loadDuckDb } from "./open-duckdb.js";

const {
  DuckDBArrayValue,
  DuckDBDecimalValue,
  DuckDBListValue,
  DuckDBMapValue,
  DuckDBStructValue,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampSecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  DuckDBUnionValue,
  StatementType,
} = loadDuckDb();

/**
 * Converts a DuckDB value to JSON: exact numbers, times in ISO 8601 (in UTC if they have a zone), lists as arrays, structs and
 * maps as objects. Anything else becomes DuckDB's text.
 */
export function jsonValueFrom(value: DuckDBValue): unknown {
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value === "bigint" || value instanceof DuckDBDecimalValue) return numberFrom(String(value));
  if (value instanceof DuckDBListValue || value instanceof DuckDBArrayValue) return value.items.map(jsonValueFrom);
  if (value instanceof DuckDBStructValue) return objectFrom(Object.entries(value.entries));
  if (value instanceof DuckDBMapValue)
    return objectFrom(value.entries.map(({ key, value }) => [textOf(key), value] as const));
  if (value instanceof DuckDBUnionValue) return jsonValueFrom(value.value);
  if (value instanceof DuckDBTimestampTZValue) return isoFrom(new DuckDBTimestampValue(value.micros), "Z");
  return isTimestamp(value) ? isoFrom(value, "") : String(value);
}

/** Parses a text of DuckDB's type JSON; if it is not valid JSON, returns the text. */
export function jsonFromText(text: DuckDBValue): unknown {
  if (typeof text !== "string") return text;
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** A number with its digits preserved: `12.50` stays `12.50`. */
function numberFrom(digits: string): number | ExactNumber {
  const number = Number(digits);
  return String(number) === digits ? number : new ExactNumber(digits);
}

function objectFrom(entries: readonly (readonly [string, DuckDBValue])[]): unknown {
  return Object.fromEntries(entries.map(([name, value]) => [name, jsonValueFrom(value)]));
}

function textOf(key: DuckDBValue): string {
  return String(key instanceof Object ? jsonValueFrom(key) : key);
}

function isTimestamp(value: DuckDBValue): boolean {
  return (
    value instanceof DuckDBTimestampValue ||
    value instanceof DuckDBTimestampSecondsValue ||
    value instanceof DuckDBTimestampMillisecondsValue ||
    value instanceof DuckDBTimestampNanosecondsValue
  );
}

/** `2026-11-20T02:00:00.5`; infinity and years BC in DuckDB's own notation. */
function isoFrom(value: DuckDBValue, zone: string): string {
  const text = String(value);
  return /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?$/.test(text) ? `${text.replace(" ", "T")}${zone}` : text;
}

/** Kinds of statements that return rows and change nothing. */
const reading = [StatementType.SELECT, StatementType.EXPLAIN, StatementType.PRAGMA];

/**
 * Checks that a text is one read-only statement. Throws UsageError if not, or DuckDB's error if it does not parse or names
 * something unknown. This only improves messages: a sealed connection blocks everything else anyway.
 */
export async function checkReading(connection: Connection, sql: string): Promise<void> {
  const statements = await connection.extractStatements(sql).catch((error: unknown) => {
    if (error instanceof Error && error.message === "Error in native callback") return undefined; // DuckDB's error for an empty text
    throw error;
  });
  if (!statements || statements.count === 0)
    throw refusal('it is empty; write one such as "SELECT count(*) FROM chunks"');
  if (statements.count > 1) {
    const hint = /^\s*pivot\b/i.test(sql) ? "; name the values of the PIVOT: ON … IN (…)" : "";
    throw refusal(`expected one statement, got ${statements.count}${hint}`);
  }
  if (/\benable_logging\s*\(/i.test(sql)) throw refusal("DuckDB cannot log here: it would write to the database");
  const statement = await statements.prepare(0);
  try {
    if (statement.parameterCount > 0) throw refusal("expected values in place of parameters (? and $1)");
    if (!reading.includes(statement.statementType)) throw refusal(onlyReads);
  } finally {
    statement.destroySync();
  }
}

/** Why a statement that writes, attaches, loads or sets something is refused. */
export const onlyReads =
  "kbdump sql only reads: no files, no other databases, no settings. For anything else, open a copy of the database with DuckDB";

function refusal(message: string): UsageError {
  return new UsageError(`The statement is refused: ${message}`, []);
}
