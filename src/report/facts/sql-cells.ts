/** Characters of a name, a status or an error that are shown; the service may send any length. */
const longest = 300;

/** SQL: a time of a manifest as TIMESTAMP in UTC. */
export function sqlTime(iso: string): string {
  return `make_timestamp(${Date.parse(iso)} * 1000)`;
}

/** SQL: the beginning of a short text, such as a status, under its name or another one. */
export function shortSql(column: string, name = column): string {
  return `left(${column}, ${longest}) AS ${name}`;
}

/** SQL: the same of a text that is content: null where that is not wanted. */
export function contentSql(content: boolean, column: string, name = column): string {
  return content ? shortSql(column, name) : `NULL::VARCHAR AS ${name}`;
}
