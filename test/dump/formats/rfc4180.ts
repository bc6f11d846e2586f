/** Reads CSV strictly by RFC 4180, with LF line ends; throws for anything else. An empty cell without quotes is null. */
export function readCsv(text: string): readonly (readonly (string | null)[])[] {
  const rows: (string | null)[][] = [];
  let row: (string | null)[] = [];
  const cell = /"([^"]*(?:""[^"]*)*)"([,\n])|([^",\n\r]*)([,\n])/y;
  while (cell.lastIndex < text.length) {
    const at = cell.lastIndex;
    const match = cell.exec(text);
    if (!match) throw new Error(`no CSV cell at ${at}: ${JSON.stringify(text.slice(at, at + 60))}`);
    const [, quoted, quotedEnd, bare, bareEnd] = match;
    row.push(quoted === undefined ? bare || null : quoted.replaceAll('""', '"'));
    if ((quotedEnd ?? bareEnd) === ",") continue;
    if (rows[0] && rows[0].length !== row.length) throw new Error(`row ${rows.length} has ${row.length} cells`);
    rows.push(row);
    row = [];
  }
  if (row.length > 0) throw new Error("the last row does not end");
  return rows;
}
