import { countText, durationText, numberText } from "../../amounts.js";
import type { SqlRow } from "../../duckdb/read-rows.js";
import { sqlText } from "../../duckdb/sql.js";
import type { Manifest } from "../../dump/manifest.js";
import { mostChartRows, renderChart, shownText, stacked } from "../page/chart.js";
import { foreign, type HtmlValue, html, timeText } from "../page/html.js";
import { type Answer, type Answered, type Section, sentences, withoutZero } from "../page/page.js";
import { column, documentName, numberOf, renderFound } from "../page/table.js";
import { commandOf } from "../report-path.js";
import { readingsSql, type Source, sqlTime } from "../source.js";

/**
 * Shows documents and chunks that are not indexed. Creates the table `indexing` with the progress of each document, from its newest
 * reading or from the list of documents. Readings of `kbdump status` and of earlier runs count, too, up to the next run.
 */
export async function stuckSection(source: Source): Promise<Answered> {
  const { connection, manifest, job } = source;
  if (source.noHistory === null)
    await connection.run(`INSERT INTO indexing_status BY NAME SELECT ${readingsSql} FROM job.main.indexing_status
      WHERE captured_at < coalesce((SELECT min(started_at) FROM job.main.runs WHERE run_id > ${sqlText(manifest.run_id)}), 'infinity'::TIMESTAMPTZ)`);
  await connection.run(indexingSql(manifest));
  const documents = await source.table({
    caption: "Documents that are not indexed",
    columns,
    select: `FROM indexing WHERE ${isStuck}`,
    order: `state <> 'error', started NULLS LAST, dataset_id, document_id`,
    query: null,
  });
  const chunks = await source.table({
    caption: "Chunks that are not completed",
    columns: [column.state("Status", "status"), ...column.numbers({ Chunks: "chunks", Documents: "documents" })],
    select: `SELECT '' AS dataset_id, '' AS document_id, status, count(*) AS chunks, count(DISTINCT (dataset_id, document_id)) AS documents
      FROM chunks WHERE status <> 'completed' GROUP BY status`,
    order: "chunks DESC, status",
    query: null,
  });
  const { failed } = await source.row(`SELECT count(*) AS failed FROM indexing WHERE state = 'error'`);
  const isFailed = documents.total > 0 && numberOf(failed) === documents.total;
  const answer = await answerOf(source, documents.total);
  const isClean = answer.tone === "good";
  const isWatchable = manifest.counts.indexing_status > 0; // otherwise, only runs read the states, from the list of documents
  const text = isWatchable
    ? "See whether the indexing moves:"
    : "Run the job again, to see whether the indexing has progressed:";
  const watch = isWatchable ? ["--watch"] : [];
  const command = commandOf(isWatchable ? "status" : "run", [job.word, ...watch, ...job.flags]);
  return {
    ...answer,
    id: "stuck",
    question: "What is stuck?",
    title: "Not indexed",
    needsAction: !isClean,
    next: isFailed ? { text: retryText } : documents.total > 0 ? { text, command } : undefined,
    body: isClean
      ? null
      : [numberOf(failed) > 0 && html`<p>${retryText}</p>`, renderFound(documents), renderFound(chunks)],
  };
}

const retryText =
  "An indexing that ended in an error does not go on by itself, and no run changes that: remove the cause, then retry the document in the service.";

/** Shows how long each indexing stage of every document took. */
export async function timelineSection(source: Source): Promise<Section> {
  const documents = await source.table({
    caption: "Indexing of the documents",
    columns,
    select: "FROM indexing WHERE state IS NOT NULL",
    order: `NOT (${isStuck}), CASE WHEN ${isStuck} THEN started END NULLS LAST, completed DESC NULLS LAST, dataset_id, document_id`,
    query: null,
  });
  const known = documents.rows.filter(({ started }) => started !== null);
  return {
    id: "indexing",
    title: "Timeline of the indexing",
    lead:
      known.length > 0
        ? leadOf(known)
        : html`No batch was read. The service reports the stages of an indexing by batch, and names the batch in its answer to every upload. Add <code>batches: [&lt;batch&gt;]</code> to a dataset of the job file.`,
    body: [known.length > 0 && renderBars(known), renderFound(documents)],
  };
}

function leadOf(known: readonly SqlRow[]): string {
  const done = longestOf(known.filter(({ state }) => state === "completed"));
  return done > 0 ? `Documents were completed within ${durationText(done)}.` : "No document was completed.";
}

/**
 * SQL: creates `indexing`, with a row per document of the run. Its state is from the newest reading if that was taken since the run
 * started, otherwise from the list of documents. `unmoved`: time from its last progress to the newest reading. `took`: from
 * the start of its indexing to the end, or to the newest reading. Times are in milliseconds.
 */
function indexingSql({ started_at }: Manifest): string {
  const key = "PARTITION BY dataset_id, document_id";
  const isNew = `captured_at >= ${sqlTime(started_at)}`;
  return `CREATE TEMP TABLE indexing AS
    WITH moves AS (
      SELECT *, indexing_status IS DISTINCT FROM lag(indexing_status) OVER before
          OR completed_segments IS DISTINCT FROM lag(completed_segments) OVER before AS has_moved
      FROM (FROM indexing_status QUALIFY row_number() OVER (${key}, batch, captured_at ORDER BY row NULLS LAST) = 1)
      WINDOW before AS (${key} ORDER BY captured_at)
    ), newest AS (
      SELECT *, max(captured_at) FILTER (has_moved) OVER (${key}) AS moved_at FROM moves
      QUALIFY row_number() OVER (${key} ORDER BY captured_at DESC) = 1
    ), listed AS (
      SELECT dataset_id, document_id, any_value(CASE WHEN indexing_status <> 'completed' THEN indexing_status
        WHEN display_status NOT IN ('available', 'disabled', 'archived') THEN display_status ELSE 'completed' END) AS state
      FROM document_info GROUP BY ALL
    ), all_documents AS (
      SELECT dataset_id, document_id FROM documents UNION SELECT dataset_id, document_id FROM listed
      UNION SELECT dataset_id, document_id FROM newest WHERE ${isNew}
    )
    SELECT *, CASE WHEN started IS NOT NULL THEN greatest(0, parsed - started, cleaned - started, split - started, completed - started,
        CASE WHEN state IS DISTINCT FROM 'completed' THEN coalesce(stopped, captured) - started END) END AS took
    FROM (SELECT dataset_id, document_id, batch, error, completed_segments, total_segments,
      CASE WHEN ${isNew} OR l.state IS NULL AND captured_at IS NOT NULL THEN coalesce(indexing_status, 'unknown') ELSE l.state END AS state,
      CASE WHEN indexing_status <> 'completed' THEN nullif(epoch_ms(captured_at) - epoch_ms(moved_at), 0) END AS unmoved, epoch_ms(captured_at) AS captured,
      epoch_ms(processing_started_at) AS started, epoch_ms(parsing_completed_at) AS parsed, epoch_ms(cleaning_completed_at) AS cleaned,
      epoch_ms(splitting_completed_at) AS split, epoch_ms(completed_at) AS completed, epoch_ms(stopped_at) AS stopped
    FROM all_documents LEFT JOIN newest USING (dataset_id, document_id) LEFT JOIN listed l USING (dataset_id, document_id))`;
}

const isStuck = "state <> 'completed'";

const columns = [
  column.document,
  column.state("State", "state"),
  column.text("Error", "error"),
  column.time("Began", "started"),
  column.duration("Took", "took"),
  column.duration("Not moved for", "unmoved"),
  {
    ...column.number("Chunks done", "completed_segments"),
    cell: ({ completed_segments: done, total_segments: total }: SqlRow) =>
      total === null ? "–" : `${numberText(numberOf(done))} of ${numberText(numberOf(total))}`,
  },
];

/** Says in the section's answer how many documents are in which state, and which one has been without progress for the longest time. */
async function answerOf(source: Source, stuck: number): Promise<Answer> {
  const states = await source.rows(
    `SELECT state, count(*) AS documents FROM indexing WHERE ${isStuck} GROUP BY state ORDER BY documents DESC, state`,
  );
  const [still] = await source.rows(
    "FROM indexing LEFT JOIN names USING (dataset_id, document_id) WHERE state <> 'error' AND unmoved > 0 ORDER BY unmoved DESC LIMIT 1",
  );
  const { all, captured, chunks } = await source.row(
    `SELECT count(state) AS all, max(captured) AS captured, (SELECT count(*) FROM chunks WHERE status <> 'completed') AS chunks FROM indexing`,
  );
  const documents = countText(numberOf(all), "document");
  const open = numberOf(chunks);
  const openText = open > 0 && `${countText(open, "chunk")} ${open === 1 ? "is" : "are"} not completed.`;
  const read = captured !== null && html`The newest reading is of ${timeText(numberOf(captured))} UTC.`;
  if (stuck > 0) {
    const failed = numberOf(states.find(({ state }) => state === "error")?.documents);
    const kinds = states.map(
      ({ state, documents }, at) => html`${at > 0 && ", "}${numberOf(documents)} ${foreign(state, 30)}`,
    );
    return {
      tone: failed > 0 ? "bad" : "warn",
      short: withoutZero(`${failed} failed`, `${stuck - failed} not indexed`).join(", "),
      lead: sentences(
        html`Of ${documents}, ${stuck} ${stuck === 1 ? "is" : "are"} not indexed to the end: ${kinds}.`,
        still && html`${documentName(still)} has not moved for ${durationText(numberOf(still.unmoved))}.`,
        openText,
        read,
      ),
    };
  }
  if (openText) return { tone: "warn", short: countText(open, "chunk"), lead: sentences(openText, read) };
  const which = numberOf(all) > 0 && `Every document is indexed (${documents}).`;
  return { tone: "good", short: "Nothing stuck", lead: sentences(which, "Every chunk is completed.", read) };
}

/** The stages of indexing. `end`: the column with the time when the stage ends. */
const stages = [
  { text: "parsing", end: "parsed", mark: "mark-6" },
  { text: "cleaning", end: "cleaned", mark: "mark-5" },
  { text: "splitting", end: "split", mark: "mark-8" },
  { text: "indexing", end: "completed", mark: "mark-3" },
] as const;

/**
 * The stages in order, in milliseconds, then the wait, or the time until the error. A stage without a known end counts as part of
 * the next.
 */
function stagesOf(row: SqlRow) {
  const began = numberOf(row.started);
  let from = 0;
  const parts = stages.flatMap(({ text, end, mark }) => {
    const to = row[end] === null ? 0 : numberOf(row[end]) - began;
    if (to <= from) return [];
    const count = to - from;
    from = to;
    return [{ count, mark: mark as string, text: `${text}: ${durationText(count)}` }];
  });
  if (row.state === "completed") return parts;
  const rest = numberOf(row.stopped ?? row.captured) - began - from;
  return [...parts, { count: rest, mark: row.state === "error" ? "bad" : "warn", text: `then ${durationText(rest)}` }];
}

function longestOf(rows: readonly SqlRow[]): number {
  return Math.max(0, ...rows.map(({ took }) => numberOf(took)));
}

/** Renders the stages of each document. All bars start at 0, so that you can compare documents indexed days apart. */
function renderBars(known: readonly SqlRow[]): HtmlValue {
  const shown = known.slice(0, mostChartRows);
  const done = longestOf(shown.filter(({ state }) => state === "completed"));
  // Limit the scale, because the bar of a stuck document would squeeze the others.
  const end = Math.max(1, done > 0 ? Math.min(longestOf(shown), 2 * done) : longestOf(shown));
  return renderChart(
    {
      id: "indexing-bars",
      finding: leadOf(known),
      hint: `Every bar begins where the indexing of its document began.${longestOf(shown) > end ? " A bar that reaches the end goes on beyond it." : ""}${shownText(shown.length, known.length, "those first that are not completed, then the newest")}`,
      keys: [...stages, { mark: "warn", text: "not completed" }, { mark: "bad", text: "ended in an error" }],
      ticks: { 0: "0", 100: durationText(end) },
    },
    shown.map((row) => ({ name: documentName(row, 80), pieces: stacked(stagesOf(row), end), value: figureOf(row) })),
  );
}

function figureOf({ state, took }: SqlRow): HtmlValue {
  const time = durationText(numberOf(took));
  if (state === "completed") return time;
  return html`<b class="${state === "error" ? "bad" : "warn"}">${foreign(state, 20)}</b> ${time}`;
}
