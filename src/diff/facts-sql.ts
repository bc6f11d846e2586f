import { unguardedRows } from "../dump/formats/csv/sql.js";
import { fingerprintSql, type MatchedKind } from "../match/fingerprint.js";
import { type Column, changeNames } from "../rows/column.js";
import { columns, namesWith } from "../rows/columns.js";

/** The columns that are compared beside content and answer, in the order in which they are named. */
export const comparedFields: Readonly<Record<MatchedKind, readonly string[]>> = {
  chunks: settingsOf("chunks"),
  child_chunks: settingsOf("child_chunks"),
};

/** Columns that the history has a word for come first, in its order; attachments and `extra` last. */
function settingsOf(kind: MatchedKind): readonly string[] {
  const rank = ({ change, type }: Column) =>
    change ? changeNames.indexOf(change) : changeNames.length + ["any", "list", "object"].indexOf(type);
  const settings = columns[kind].filter(({ role }) => role === "setting");
  return settings.toSorted((a, b) => rank(a) - rank(b)).map(({ name }) => name);
}

/** The characters of a content that are shown where the whole is not. */
const beginning = 160;

/**
 * SQL: what is kept of the rows of a dump to compare them: ids, fingerprint, the beginning of the content, digests of the
 * fields, and what tells of a hand. `source` has the columns of the kind.
 */
export function factsSql(kind: MatchedKind, source: string, unguarded: boolean): string {
  const fields = comparedFields[kind].map((name) => `${fieldSql(kind, name)} AS ${name}`);
  const ids = namesWith(kind, "parent", "id");
  const hand =
    kind === "chunks"
      ? ["updated_by IS NOT NULL AS edited", "created_at"]
      : ["type IS NOT DISTINCT FROM 'customized' AS edited"];
  return `SELECT dataset_id, document_id, ${ids.join(", ")}, position, ${fingerprintSql(kind)} AS fingerprint,
    ${hand.join(", ")}, 'x' || left(content, ${beginning}) AS beginning, ${fields.join(", ")}
    FROM ${contentSql(kind, source, unguarded)}`;
}

/** SQL: the rows as they are, or with their texts as they were before `csv_safe`. */
export function contentSql(kind: MatchedKind, source: string, unguarded: boolean): string {
  return unguarded ? unguardedRows(kind, source) : `(${source})`;
}

/** SQL: a small value that differs when the field does. Nothing is nothing, whether null, "", [] or {}. */
function fieldSql(kind: MatchedKind, name: string): string {
  const type = columns[kind].find((column) => column.name === name)?.type;
  if (type === "boolean" || type === "text") return name;
  if (type === "strings") return `CASE WHEN len(${name}) > 0 THEN md5_number(to_json(list_sort(${name}))::VARCHAR) END`;
  const text =
    name === "extra"
      ? `nullif(json_merge_patch(extra::JSON, ${ignoredMembers(kind)}::JSON)::VARCHAR, '{}')`
      : withoutSignatures(`CASE WHEN json_valid(${name}) THEN json(${name})::VARCHAR ELSE ${name} END`);
  return `CASE WHEN ${name} NOT IN ('', '[]', '{}') THEN md5_number(${text}) END`;
}

/** SQL: takes the signatures out of links, as a run does unless `keep_signatures`. */
function withoutSignatures(text: string): string {
  return `regexp_replace(${text}, '\\?timestamp=[0-9]{10}&nonce=[0-9a-f]{32}&sign=[\\w-]{43}(=|%3D)', '', 'g')`;
}

/** Known fields of an unexpected type stand in `extra`; those that are not compared do not count there, either. */
function ignoredMembers(kind: MatchedKind): string {
  const compared = namesWith(kind, "content", "setting");
  const ignored = columns[kind].filter(({ name }) => !compared.includes(name) || name === "extra");
  return `'${JSON.stringify(Object.fromEntries(ignored.map(({ name }) => [name, null])))}'`;
}
