/**
 * DuckDB writes JSON that it takes apart anew, and rounds fractions to what a double holds. So in a line with longer ones
 * every fraction becomes a string that nobody else would write, before it is taken apart, and a number again afterwards.
 */

const fraction = "-?[0-9]+[.eE][-+.0-9eE]*";
const long = "[:,\\[]-?[0-9]([0-9.]{15}|[0-9.]*[eE])";
const string = '"(?:[^"\\\\]|\\\\.)*"';

/** SQL: a line of JSON, with the fractions outside its strings marked if DuckDB would round one of them. */
export function markedFractions(line: string): string {
  // chr(1) stands in no JSON: it comes behind every string and every fraction, and then is left around fractions alone.
  const apart = `regexp_replace(${line}, '(${string})|(${fraction})', '\\1' || chr(1) || '\\2' || chr(1), 'g')`;
  const around = `replace(${apart}, chr(1) || chr(1), '')`;
  const marked = `regexp_replace(${around}, '\\x01([^\\x01]+)\\x01', '"\\\\u0001fraction \\1"', 'g')`;
  return `CASE WHEN regexp_matches(${line}, '${long}') THEN ${marked} ELSE ${line} END`;
}

/** SQL: JSON with its marked fractions as they were. */
export function unmarkedFractions(json: string): string {
  return `regexp_replace(${json}::VARCHAR, '"\\\\u0001fraction (${fraction})"', '\\1', 'g')`;
}
