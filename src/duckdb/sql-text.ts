import { resolve } from "node:path";

/** A string as SQL text. */
export function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A path as SQL text. It is absolute: DuckDB takes `~` at the start of one for the home folder. */
export function sqlPath(path: string): string {
  return sqlText(resolve(path));
}

/** The path of a file that DuckDB reads, as SQL text: it may look like a pattern, and is none. */
export function sqlFile(path: string): string {
  return sqlText(resolve(path).replace(/[*?[]/g, "[$&]"));
}

/** Several of them: the rows of one follow those of the other. */
export function sqlFiles(paths: readonly string[]): string {
  return `[${paths.map(sqlFile).join(", ")}]`;
}
