import {
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
  type DuckDBValue,
  StatementType,
} from "@duckdb/node-api";
import { StopError, UsageError } from "../errors.js";
import { ExactNumber, parseJson } from "../rows/exact-json.js";
import type { Connection } from "./open-duckdb.js";

/**
 * The texts of a statement `SELECT <one text> FROM <table>`, some at a time. A stream of DuckDB ends without a word when it
 * fails: rows that it did not give are counted, and asked for once more in a way that rejects with the reason. StopError if
 * DuckDB gives no reason.
 */
export async function* streamTexts(
  connection: Connection,
  text: string,
  table: string,
): AsyncGenerator<Iterable<string>> {
  const result = await connection.stream(`SELECT ${text} FROM ${table}`);
  let rows = 0;
  for (;;) {
    const chunk = await result.fetchChunk();
    if (!chunk || chunk.rowCount === 0) break;
    yield textsOf(chunk);
    rows += chunk.rowCount;
  }
  const counted = await connection.runAndReadAll(`SELECT count(*)::VARCHAR FROM ${table}`);
  const expected = Number(counted.getRowsJson()[0]?.[0]);
  if (rows === expected) return;
  await connection.run(`SELECT max(strlen(text)) FROM (SELECT ${text} AS text FROM ${table})`);
  throw new StopError(`DuckDB gave ${rows} of ${expected} rows; it lacks memory: try again with --memory=2GB`);
}

type Chunk = NonNullable<Awaited<ReturnType<Awaited<ReturnType<Connection["stream"]>>["fetchChunk"]>>>;

/** Made one by one, as they are taken: a chunk has up to 2,048 rows, which may be long. */
function* textsOf(chunk: Chunk): Generator<string> {
  const texts = chunk.getColumnVector(0);
  for (let at = 0; at < chunk.rowCount; at++) yield String(texts.getItem(at));
}

/** The rows of a statement, as JSON has them: large integers are texts. */
export async function rowsOf(connection: Connection, sql: string): Promise<readonly SqlRow[]> {
  return (await connection.runAndReadAll(sql)).getRowObjectsJson();
}

export type SqlRow = Readonly<Record<string, unknown>>;

/** Kinds of statements that give rows and change nothing. */
const reading: readonly StatementType[] = [StatementType.SELECT, StatementType.EXPLAIN, StatementType.PRAGMA];

/**
 * Checks that a text is one statement that reads. UsageError where it is none; the errors of DuckDB where it cannot be
 * understood, or names what is not there. This is for good messages: a sealed connection lets nothing else through either.
 */
export async function checkReading(connection: Connection, sql: string): Promise<void> {
  const statements = await connection.extractStatements(sql).catch((error: unknown) => {
    if (error instanceof Error && error.message === "Error in native callback") return undefined; // of an empty text
    throw error;
  });
  if (!statements || statements.count === 0) throw refusal("expected a statement, such as SELECT count(*) FROM chunks");
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

/** The reason for the refusal of a statement that writes, attaches, loads or sets something. */
export const onlyReads =
  "kbdump sql only reads: no files, no other databases, no settings. For anything else, open a copy of the database with DuckDB";

function refusal(message: string): UsageError {
  return new UsageError(`The statement is refused: ${message}`, []);
}

/**
 * A value of DuckDB as JSON has it: numbers exactly, times in ISO 8601 (those with a zone in UTC), lists as arrays, structs and
 * maps as objects. Anything else is the text that DuckDB shows.
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

/** The value of a text of DuckDB's type JSON; the text itself where it is none. */
export function jsonFromText(text: DuckDBValue): unknown {
  if (typeof text !== "string") return text;
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** A number as its digits say: `12.50` stays `12.50`. */
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

/** `2026-11-20T02:00:00.5`; infinity and years before Christ as DuckDB shows them. */
function isoFrom(value: DuckDBValue, zone: string): string {
  const text = String(value);
  return /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?$/.test(text) ? `${text.replace(" ", "T")}${zone}` : text;
}
