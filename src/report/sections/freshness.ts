import { ageText, countText } from "../../amounts.js";
import { stateBefore } from "../../database/views.js";
import type { SqlRow } from "../../duckdb/read-rows.js";
import { sqlText } from "../../duckdb/sql.js";
import { type HtmlValue, html, stateText, type Tone } from "../page/html.js";
import { type Section, sentences } from "../page/page.js";
import { column, documentName, numberOf, renderTable } from "../page/table.js";
import type { Source } from "../source.js";

/** The states of documents; states that need attention come first. */
const states: readonly (readonly [state: string, tone: Tone, meaning: string])[] = [
  ["never read", "bad", "no run is known to have read them completely"],
  ["unstable", "warn", "they changed while this run read them"],
  ["stale", "warn", "this run could not read them completely; the database of the job has the rows of an earlier one"],
  ["fresh", "good", "this run read them completely"],
  ["not in this run", "quiet", "an earlier run had them; they were deleted since, or this run was not asked for them"],
];

type Counts = ReadonlyMap<unknown, number>;

/** Shows how fresh every document is: whether this run read it completely, and when it last changed. */
export async function freshnessSection(source: Source): Promise<Section> {
  const asOf = Date.parse(source.manifest.finished_at);
  await source.connection.run(`CREATE TEMP TABLE earlier AS ${earlierSql(source)}`);
  await source.connection.run(freshnessSql);
  const found = await source.rows("SELECT state, count(*) AS documents FROM freshness GROUP BY state");
  const counts = new Map(found.map(({ state, documents }) => [state, numberOf(documents)]));
  const [oldest] = await source.rows(
    `FROM freshness LEFT JOIN names USING (dataset_id, document_id)
    WHERE changed_at IS NOT NULL AND state <> 'not in this run' ORDER BY changed_at, nr LIMIT 1`,
  );
  const table = await source.table({
    caption: "Freshness of documents",
    columns: [
      column.document,
      column.state("State", "state"),
      column.time("Last change", "changed_at"),
      column.age("Unchanged for", "unchanged"),
      column.number("Chunks", "chunks"),
    ],
    select: `SELECT *, ${asOf} - changed_at AS unchanged FROM freshness`,
    order: `list_position([${states.map(([state]) => sqlText(state)).join(", ")}], state), changed_at NULLS LAST, nr, dataset_id, document_id`,
    query: queryOf(source, counts.has("not in this run")),
  });
  return {
    id: "freshness",
    title: "Freshness of every document",
    lead: freshnessLead(counts, oldest, asOf, source.noHistory === null),
    body: [renderStates(counts), renderTable(table)],
  };
}

/** SQL: the documents with rows in the database right after this run, regardless of later runs. */
function earlierSql({ noHistory, manifest: { run_id } }: Source): string {
  if (noHistory !== null) return "SELECT dataset_id, document_id FROM documents WHERE false";
  const atRun = stateBefore("chunks", { later: `run_id > ${sqlText(run_id)}`, from: "job.main." });
  return `SELECT dataset_id, document_id FROM job.main.documents WHERE run_id <= ${sqlText(run_id)}
    UNION SELECT dataset_id, document_id FROM (${atRun})`;
}

/** SQL: creates `freshness`, with a row per document of this run or an earlier one. Times are in milliseconds since 1970. */
const freshnessSql = `CREATE TEMP TABLE freshness AS
  SELECT d.nr, dataset_id, document_id, epoch_ms(c.changed_at) AS changed_at, coalesce(d.chunk_count, 0) AS chunks,
    CASE WHEN d.nr IS NULL THEN 'not in this run' WHEN d.status = 'complete' THEN 'fresh' WHEN d.status = 'unstable' THEN 'unstable'
      WHEN e.document_id IS NOT NULL THEN 'stale' ELSE 'never read' END AS state
  FROM documents d FULL JOIN earlier e USING (dataset_id, document_id)
  LEFT JOIN (
    SELECT dataset_id, document_id, max(changed_at) AS changed_at FROM (
      SELECT dataset_id, document_id, changed_at FROM chunks
      UNION ALL SELECT dataset_id, document_id, changed_at FROM child_chunks
    ) GROUP BY dataset_id, document_id
  ) c USING (dataset_id, document_id)`;

/** The command that lists all documents. If some are only in earlier runs, it queries the database. */
function queryOf(source: Source, isOfEarlier: boolean): string {
  if (isOfEarlier || !source.run)
    return source.askDatabase(
      "SELECT dataset_id, document_id, document_name, state, good_at FROM coverage ORDER BY good_at",
    );
  const times = "SELECT dataset_id, document_id, created_at, updated_at FROM";
  return source.askRun(
    `SELECT dataset_id, document_id, d.status, max(greatest(r.created_at, r.updated_at)) AS changed_at
    FROM documents d LEFT JOIN (${times} chunks UNION ALL ${times} child_chunks) r USING (dataset_id, document_id)
    GROUP BY ALL ORDER BY changed_at`,
  );
}

function freshnessLead(counts: Counts, oldest: SqlRow | undefined, asOf: number, hasHistory: boolean): HtmlValue {
  const fresh = counts.get("fresh") ?? 0;
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0) - (counts.get("not in this run") ?? 0);
  if (all === 0) return "The dump has no document.";
  const every = all === 1 ? "the one document" : `all ${countText(all, "document")}`;
  return sentences(
    `This run read ${fresh === all ? every : `${fresh} of ${countText(all, "document")}`} whole.`,
    oldest &&
      html`${documentName(oldest)} has not changed for the longest time: ${ageText(asOf - numberOf(oldest.changed_at))} before this run.`,
    !hasHistory && fresh < all && "Without the database of the job, earlier reads are not known.",
  );
}

/** Renders the states of documents that this run did not read completely, with their meanings. */
function renderStates(counts: Counts): HtmlValue {
  const others = states.filter(([state]) => state !== "fresh" && counts.has(state));
  const items = others.map(
    ([state, tone, meaning]) => html`<li>${stateText(tone, `${counts.get(state)} ${state}`)}: ${meaning}.</li>\n`,
  );
  return items.length > 0 && html`<ul>${items}</ul>`;
}
