import { countText, numberText, shareText } from "../../amounts.js";
import type { SqlRow } from "../../duckdb/read-rows.js";
import { sqlText } from "../../duckdb/sql.js";
import { mostChartRows, type Piece, renderChart, rowHeight, shownText } from "../page/chart.js";
import { type HtmlValue, html } from "../page/html.js";
import { type Answer, type Answered, sentences } from "../page/page.js";
import { column, documentName, numberOf, renderFound, type Table } from "../page/table.js";
import type { Source } from "../source.js";

/** The numbers of the 20 parts into which a document is divided, from start to end, each with the same number of chunks. */
const places = Array.from({ length: 20 }, (_, place) => place);

/**
 * Shows chunks that were never retrieved, and where they are in their documents. A re-index resets hit counts to 0, so a chunk also
 * counts as retrieved if the job's history has earlier hits. Disabled chunks cannot be retrieved, and are left out.
 */
export async function hitsSection(source: Source): Promise<Answered> {
  await source.connection.run(`CREATE TEMP TABLE retrievable AS ${retrievable(source)}`);
  const sums = await source.row(
    `SELECT count(*) AS enabled, count(*) FILTER (never) AS never, count(*) FILTER (hit_count = 0 AND NOT never) AS before,
      (SELECT count(*) FROM chunks) AS chunks FROM retrievable`,
  );
  const documents = await documentsTable(source);
  return {
    ...answerOf(sums, documents.rows[0], source.noHistory === null),
    id: "hits",
    question: "What is never found?",
    title: "Where chunks are never found",
    body: [
      renderStrips(documents, sums),
      renderFound(documents),
      renderFound(
        await chunksTable(source, numberOf(sums.before)),
        "A chunk that no question ever reached costs tokens and answers nothing. It may be too long, too short, out of date, or say what another one says better.",
      ),
    ],
  };
}

/** SQL: enabled chunks with a reported hit count, and the part of the document that contains each chunk. */
function retrievable({ noHistory, manifest: { run_id } }: Source): string {
  // Chunks with hits in the job's history up to this run, under their ids in this run.
  const earlier =
    noHistory === null
      ? `SELECT DISTINCT dataset_id, document_id, id FROM (
        SELECT any_value(dataset_id) AS dataset_id, any_value(document_id) AS document_id, arg_max(coalesce(new_id, id), run_id) AS id
        FROM job.main.chunk_changes WHERE run_id <= ${sqlText(run_id)} GROUP BY lineage HAVING max(hit_count) > 0
      )`
      : "SELECT dataset_id, document_id, id FROM chunks LIMIT 0";
  return `SELECT row, dataset_id, document_id, place, hit_count, hit_count = 0 AND before.id IS NULL AS never
    FROM (
      SELECT row, dataset_id, document_id, id, hit_count, enabled,
        (row_number() OVER (PARTITION BY dataset_id, document_id ORDER BY position, row) - 1) * ${places.length}
          // count(*) OVER (PARTITION BY dataset_id, document_id) AS place
      FROM chunks
    ) LEFT JOIN (${earlier}) before USING (dataset_id, document_id, id)
    WHERE enabled AND hit_count IS NOT NULL`;
}

async function documentsTable(source: Source): Promise<Table> {
  const share = places.map(
    (place) => `count(*) FILTER (place = ${place} AND never) / nullif(count(*) FILTER (place = ${place}), 0)`,
  );
  return source.table({
    caption: "Retrieval per document, of its enabled chunks",
    columns: [
      column.document,
      ...column.numbers({ "Enabled chunks": "enabled", "Never retrieved": "never" }),
      { ...column.number("Share", "share"), cell: shareOf },
      column.number("Retrievals now counted", "hits"),
    ],
    select: `SELECT dataset_id, document_id, count(*) AS enabled, count(*) FILTER (never) AS never, sum(hit_count) AS hits,
      count(*) FILTER (never) / count(*) AS share, ${share.map((each, place) => `${each} AS place_${place}`).join(", ")} FROM retrievable GROUP BY dataset_id, document_id`,
    order: "never DESC, enabled, dataset_id, document_id",
    query: source.askRun(
      `SELECT document_id, count(*) AS enabled, count(*) FILTER (hit_count = 0) AS without_hits, sum(hit_count) AS hits
      FROM ${source.rowsOfRun("chunks")} WHERE enabled AND hit_count IS NOT NULL GROUP BY dataset_id, document_id ORDER BY without_hits DESC`,
    ),
  });
}

/** The longest chunks without hits. If some hits are only in the history, there is no command that prints all of these chunks. */
async function chunksTable(source: Source, before: number): Promise<Table> {
  const all = `SELECT document_id, position, id, word_count, content FROM ${source.rowsOfRun("chunks")}
    WHERE enabled AND hit_count = 0 ORDER BY word_count DESC`;
  return source.table({
    caption: "Chunks that were never retrieved, the longest first",
    columns: [
      column.document,
      ...column.numbers({ Position: "position", Characters: "characters" }),
      column.time("Made", "created"),
      column.text("Beginning", "beginning"),
    ],
    select: `SELECT dataset_id, document_id, id, position, characters, epoch_ms(created_at) AS created, beginning, row
      FROM chunks SEMI JOIN (FROM retrievable WHERE never) USING (row)`,
    order: "characters DESC NULLS LAST, row",
    query: before > 0 ? null : source.askRun(all),
  });
}

function answerOf(sums: SqlRow, first: SqlRow | undefined, hasHistory: boolean): Answer {
  const [enabled, never, chunks] = [numberOf(sums.enabled), numberOf(sums.never), numberOf(sums.chunks)];
  if (enabled === 0) {
    const lead = "The dump has no enabled chunk for which the service counts how often it was retrieved.";
    return { tone: "quiet", short: "Nothing known", lead };
  }
  const base = countText(enabled, "enabled chunk");
  const others = enabled < chunks && ` (of ${countText(chunks, "chunk")}; the others are disabled, or have no count)`;
  const answer = (tone: Answer["tone"], short: string, ...found: readonly HtmlValue[]): Answer => {
    const before = hasHistory
      ? "Retrievals before a re-index count, too."
      : "A re-index sets the counts back to 0, and there is no history of what was retrieved before.";
    return { tone, short, lead: sentences(...found, before) };
  };
  if (never === 0) return answer("good", "Nothing", html`Each of the ${base}${others} was retrieved at least once.`);
  if (never === enabled) {
    const found = html`None of the ${base}${others} was ever retrieved. The knowledge base may be new, or unused.`;
    return answer("warn", "All of it", found);
  }
  return answer(
    2 * never > enabled ? "warn" : "quiet",
    `${shareText(never, enabled)} of ${base}`,
    html`${countText(never, "chunk")} of ${base}${others} ${never === 1 ? "was" : "were"} never retrieved.`,
    first && html`${documentName(first, 40)} has the most of them: ${numberText(numberOf(first.never))}.`,
  );
}

function shareOf({ never, enabled }: SqlRow): string {
  return shareText(numberOf(never), numberOf(enabled));
}

/** Renders a strip per document, from start to end. The fuller a part, the more of its chunks were never retrieved. */
function renderStrips({ rows, total }: Table, sums: SqlRow): HtmlValue {
  const shown = rows.filter((row) => numberOf(row.never) > 0).slice(0, mostChartRows);
  if (shown.length === 0) return "";
  return renderChart(
    {
      id: "hit-strips",
      finding: `${shareOf(sums)} of ${countText(numberOf(sums.enabled), "enabled chunk")} were never retrieved.`,
      hint: `Every strip is a document from its beginning to its end. The higher a place is filled, the more of its chunks were never retrieved.${shownText(shown.length, total, "those with the most chunks that were never retrieved")}`,
      ticks: { 0: "beginning", 100: "end" },
    },
    shown.map((row) => ({
      name: documentName(row, 80),
      pieces: [{ from: 0, to: 100, mark: "raised", top: 2, height: most }, ...stripOf(row)],
      value: `${shareOf(row)} never`,
    })),
  );
}

/** The height of a filled strip. */
const most = rowHeight - 4;

/** The parts of a document, side by side, each filled from the bottom by its share of chunks that were never retrieved. */
function stripOf(row: SqlRow): readonly Piece[] {
  const width = 100 / places.length;
  return places.flatMap((place) => {
    const share = numberOf(row[`place_${place}`]);
    const height = Math.max(1, most * share);
    const span = { from: place * width, to: (place + 0.92) * width };
    return share > 0 ? [{ ...span, mark: "mark-2", top: rowHeight - 2 - height, height }] : [];
  });
}
