import type { Connection } from "../duckdb/open-duckdb.js";
import { fingerprintSql, type MatchedKind } from "../match/fingerprint.js";
import { contentSql } from "./facts-sql.js";
import type { Comparison, RunSources } from "./load-runs.js";

/** The most of a text that is compared word by word, in characters; what follows is left out. */
const longest = 1_000_000;

/**
 * Makes the table `texts`: content and answer, old and new, of every change of content, or every one that a re-index lost, by
 * its number. The files are read once
 * more for it, because only now is it known which of the texts are needed.
 */
export async function loadTexts(
  connection: Connection,
  olds: RunSources,
  news: RunSources,
  comparison: Comparison,
  onlyLost: boolean,
): Promise<void> {
  const changed = `kind = 'changed'${onlyLost ? " AND lost" : ""}`;
  for (const sources of [olds, news]) {
    const { side, run } = sources;
    await connection.run(`CREATE TABLE ${side}_texts
      (level VARCHAR, dataset_id VARCHAR, document_id VARCHAR, segment_id VARCHAR, id VARCHAR, fingerprint UUID,
      content VARCHAR, answer VARCHAR)`);
    for (const kind of comparison.children ? (["chunks", "child_chunks"] as const) : (["chunks"] as const)) {
      await connection.run(textsSql(kind, sources, comparison.unguarded, changed)).catch((error: unknown) => {
        throw run.dump.unreadable(sources[kind], error);
      });
    }
  }
  await connection.run(`CREATE TABLE texts AS
    SELECT n, o.content AS old_content, a.content AS new_content, o.answer AS old_answer, a.answer AS new_answer
    FROM changes c JOIN ${onceOnly("old")} o ON ${isOf("old", "o")} JOIN ${onceOnly("new")} a ON ${isOf("new", "a")}
    WHERE ${changed} ORDER BY n`);
}

/** SQL: adds the texts of one file to `<side>_texts`. A character stands before each: the client takes a byte order mark off. */
function textsSql(kind: MatchedKind, { side, ...sources }: RunSources, unguarded: boolean, changed: string): string {
  const [level, segment, answer] =
    kind === "chunks" ? ["chunk", "NULL", `'x' || left(answer, ${longest})`] : ["child_chunk", "segment_id", "NULL"];
  const wanted = `(SELECT dataset_id, document_id, ${side}_segment_id AS segment, ${side}_id AS wanted_id, ${side}_fingerprint AS fingerprint
    FROM changes WHERE ${changed} AND level = '${level}')`;
  return `INSERT INTO ${side}_texts
    SELECT '${level}', dataset_id, document_id, ${segment}, id, ${fingerprintSql(kind)} AS fingerprint,
      'x' || left(content, ${longest}), ${answer}
    FROM ${contentSql(kind, sources[kind].select, unguarded)} s
    SEMI JOIN ${wanted} w ON w.dataset_id = s.dataset_id AND w.document_id = s.document_id AND w.wanted_id = s.id
      ${kind === "chunks" ? "" : "AND w.segment = s.segment_id"}`;
}

/** SQL: the texts of a side, without those of rows that stand there twice. */
function onceOnly(side: "old" | "new"): string {
  return `(FROM ${side}_texts WHERE rowid IN (SELECT min(rowid) FROM ${side}_texts
    GROUP BY level, dataset_id, document_id, segment_id, id, fingerprint))`;
}

/** SQL: whether a text is that of a change. */
function isOf(side: "old" | "new", name: string): string {
  return `${name}.level = c.level AND ${name}.dataset_id = c.dataset_id AND ${name}.document_id = c.document_id
    AND ${name}.id = c.${side}_id AND ${name}.fingerprint = c.${side}_fingerprint
    AND ${name}.segment_id IS NOT DISTINCT FROM c.${side}_segment_id`;
}
