import { unguardedRows } from "../dump/formats/csv.js";
import { type Column, changeNames, columns, namesWith } from "../rows/columns.js";
import type { MatchedKind } from "./pair.js";

/** The columns to compare besides content and answer, in the order they are named. */
export const comparedFields: Readonly<Record<MatchedKind, readonly string[]>> = {
  chunks: settingsOf("chunks"),
  child_chunks: settingsOf("child_chunks"),
};

/**
 * The columns to compare, in the order in which a difference names them: first those that the job's history also names, then
 * attachments and `extra`.
 */
function settingsOf(kind: MatchedKind): readonly string[] {
  const rank = ({ change, type }: Column) =>
    change ? changeNames.indexOf(change) : changeNames.length + ["any", "list", "object"].indexOf(type);
  const settings = columns[kind].filter(({ role }) => role === "setting");
  return settings.toSorted((a, b) => rank(a) - rank(b)).map(({ name }) => name);
}

/** How many characters of a long content to show. */
const beginning = 160;

/**
 * SQL: the facts that are kept about the rows of a dump to compare them: ids, fingerprint, the beginning of the content, digests of the
 * fields, and the evidence of manual edits. `source` has the columns of the kind. For the older run, also the values before an edit, from
 * the history.
 */
export function factsSql(kind: MatchedKind, source: string, side: "old" | "new"): string {
  const fields = comparedFields[kind].map((name) => `${fieldSql(kind, name)} AS ${name}`);
  const ids = namesWith(kind, "parent", "id");
  const facts = side === "old" ? [...ownFacts[kind], ...historyFacts[kind]] : ownFacts[kind];
  const first = historyColumns[kind].map((name) => `${name} AS first_${name}`);
  const history = `LEFT JOIN (SELECT dataset_id, document_id, id, true AS is_edited, ${first.join(", ")} FROM edited_${kind}) USING (dataset_id, document_id, id)`;
  return `SELECT dataset_id, document_id, ${ids.join(", ")}, position,
    ${kind === "chunks" ? textSql("content", "answer") : textSql("content")} AS fingerprint,
    ${facts.join(", ")}, created_at, 'x' || left(content, ${beginning}) AS beginning, ${fields.join(", ")}
    FROM ${source} ${side === "old" ? history : ""}`;
}

/** SQL: the fingerprint of a content and an answer. A missing answer equals an empty one, because services send either. */
export function textSql(content: string, answer = "NULL"): string {
  const text = `coalesce(${content}, '')`;
  return `left(sha256(strlen(${text}) || ':' || ${text} || coalesce(${answer}, '')), 32)::UUID`;
}

/** SQL: whether a text has anything but white space, by the service's definition. */
const isFilled = (text: string) => `coalesce(regexp_matches(${text}, '[^\\s\\x0b\\pZ\\x{FEFF}]'), false)`;

const ownFacts: Readonly<Record<MatchedKind, readonly string[]>> = {
  chunks: [
    "coalesce(updated_by <> '', false) AS edited",
    "coalesce(disabled_by <> '', false) AS disabled_by_someone",
    `${isFilled("content")} AS is_filled`,
    `${isFilled("answer")} AS has_answer`,
    "hash(content) AS question",
    "completed_at",
  ],
  child_chunks: ["type IS NOT DISTINCT FROM 'customized' AS edited"],
};

const historyColumns: Readonly<Record<MatchedKind, readonly string[]>> = {
  chunks: ["had", "content", "answer", "keywords", "enabled"],
  child_chunks: ["content"],
};

/** SQL: the value of a column before the first edit in the history; the current value if it has none. */
const before = (name: string) => `CASE WHEN list_contains(first_had, '${name}') THEN first_${name} ELSE ${name} END`;
/** SQL: keywords in a form in which order and repeats do not matter. */
const wordSet = (name: string) => `list_sort(list_distinct(coalesce(${name}, [])))`;

/** SQL of the facts that come from the history. `before`: the fingerprint of the text before an edit; null if the history has none. */
const historyFacts: Readonly<Record<MatchedKind, readonly string[]>> = {
  chunks: [
    `nullif(CASE WHEN is_edited THEN ${textSql(before("content"), before("answer"))} END, fingerprint) AS before`,
    `coalesce(list_contains(first_had, 'keywords') AND ${wordSet("first_keywords")} <> ${wordSet("keywords")}, false) AS has_new_keywords`,
    "coalesce(first_enabled, false) AS was_enabled",
  ],
  child_chunks: [`nullif(CASE WHEN is_edited THEN ${textSql("first_content")} END, fingerprint) AS before`],
};

/** SQL: the rows as they are, or with the original texts if `csv_safe` changed them. */
export function contentSql(kind: MatchedKind, source: string, unguarded: boolean): string {
  return unguarded ? unguardedRows(kind, source) : source;
}

/** SQL: a small value that differs if the field differs. Null, "", [] and {} all count as empty. */
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

/** SQL: removes signatures from links, as a run does unless `keep_signatures` is set. */
function withoutSignatures(text: string): string {
  return `regexp_replace(${text}, '\\?timestamp=[0-9]{10}&nonce=[0-9a-f]{32}&sign=[\\w-]{43}(=|%3D)', '', 'g')`;
}

/**
 * JSON that removes from `extra` the members that are not compared. `extra` has these members only if their values had unexpected
 * types.
 */
function ignoredMembers(kind: MatchedKind): string {
  const compared = namesWith(kind, "content", "setting");
  const ignored = columns[kind].filter(({ name }) => !compared.includes(name) || name === "extra");
  return `'${JSON.stringify(Object.fromEntries(ignored.map(({ name }) => [name, null])))}'`;
}
