import { StatementType } from "@duckdb/node-api";
import { UsageError } from "../errors.js";
import type { Connection } from "./open-duckdb.js";

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
