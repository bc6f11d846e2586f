import { countText, numberText } from "../../amounts.js";
import type { SqlRow } from "../../duckdb/read-rows.js";
import { listText } from "../../words.js";
import { type ChartRow, mostChartRows, renderChart, rowHeight, shownText } from "../page/chart.js";
import { type HtmlValue, html } from "../page/html.js";
import { type Section, sentences, withoutZero } from "../page/page.js";
import { column, documentName, numberOf, renderFound, renderTable } from "../page/table.js";
import { isNotBlank, type Source } from "../source.js";

/** The document of a chunk, the chunk's position, and the start of its text. */
const location = [column.document, column.number("Position", "position"), column.text("Text", "beginning")];

/** Shows chunks that the service could not index, and child chunks without a parent. */
export async function errorsSection(source: Source): Promise<Section> {
  const [chunks, children] = [source.rowsOfRun("chunks"), source.rowsOfRun("child_chunks")];
  const isFailed = "error IS NOT NULL OR status = 'error'";
  const errors = await source.table({
    caption: "Chunks with an error",
    columns: [...location, column.state("Status", "status"), column.text("Error", "error", 300)],
    select: `FROM chunks WHERE has_error OR status = 'error'`,
    order: "row",
    query: source.askRun(`SELECT document_id, position, id, status, error FROM ${chunks} WHERE ${isFailed}`),
  });
  const orphans = await source.table({
    caption: "Child chunks without a parent",
    columns: [...location, column.id("Missing parent", "segment_id")],
    select: withoutParent("child_chunks", "chunks"),
    order: "row",
    query: source.askRun(withoutParent(children, chunks)),
  });
  const found = withoutZero(
    `${countText(errors.total, "chunk")} with an error`,
    `${countText(orphans.total, "child chunk")} without a parent`,
  );
  const isClean = found.length === 0;
  return {
    id: "errors",
    title: "Errors and orphans",
    lead: isClean ? "No chunk has an error, and every child chunk has its parent." : `The dump has ${listText(found)}.`,
    needsAction: !isClean,
    body: [
      renderFound(
        errors,
        "The service could not index these chunks, so no search finds them. Remove the cause, such as a limit of the embedding model, then save the chunks again or index the document again.",
      ),
      renderFound(
        orphans,
        "The parent of these child chunks is not in the dump. The service may have deleted it meanwhile, or its document is not complete. Index the document again.",
      ),
    ],
  };
}

/** SQL: child chunks without their parent. */
function withoutParent(children: string, chunks: string): string {
  return `FROM ${children}
    ANTI JOIN (SELECT dataset_id, document_id, id AS segment_id FROM ${chunks}) USING (dataset_id, document_id, segment_id)`;
}

/** Shows contents that occur in several chunks, and disabled chunks. Finds equal contents by their MD5; blank ones have none. */
export async function duplicatesSection(source: Source): Promise<Section> {
  const chunks = source.rowsOfRun("chunks");
  await source.connection.run(`CREATE TEMP TABLE duplicates AS
    SELECT min(row) AS row, count(*) AS copies, count(DISTINCT (dataset_id, document_id)) AS documents,
      count(DISTINCT answer_hash) AS answers, sum(characters) - max(characters) AS characters
    FROM chunks WHERE content_hash IN (FROM (SELECT content_hash FROM chunks WHERE content_hash IS NOT NULL GROUP BY ALL HAVING count(*) > 1))
    GROUP BY content_hash`);
  const copies = numberOf((await source.row("SELECT sum(copies - 1) AS copies FROM duplicates")).copies);
  const duplicates = await source.table({
    caption: "Texts that occur in several chunks, with the first of them",
    columns: [
      ...location,
      ...column.numbers({ Copies: "copies", Documents: "documents", "Different answers": "answers" }),
      column.number("Characters too many", "characters"),
    ],
    select: `SELECT d.*, c.dataset_id, c.document_id, c.position, c.beginning FROM duplicates d JOIN chunks c USING (row)`,
    order: "characters DESC NULLS LAST, copies DESC, row",
    query: source.askRun(
      `SELECT count(*) AS copies, any_value(content) AS content, list(id) AS ids FROM ${chunks}
      WHERE ${isNotBlank} GROUP BY sha256(content) HAVING count(*) > 1 ORDER BY copies DESC`,
    ),
  });
  const disabled = await source.table({
    caption: "Disabled chunks",
    columns: [...location, column.time("Disabled", "disabled"), column.text("By account", "disabled_by", 80)],
    select: "SELECT *, epoch_ms(disabled_at) AS disabled FROM chunks WHERE NOT enabled",
    order: "disabled DESC NULLS LAST, row",
    query: source.askRun(
      `SELECT document_id, position, id, disabled_at, disabled_by, content FROM ${chunks} WHERE NOT enabled ORDER BY disabled_at DESC`,
    ),
  });
  return {
    id: "duplicates",
    title: "Duplicates and disabled chunks",
    lead: `${copies === 0 ? "No chunk is a copy" : `${countText(copies, "chunk")} ${copies === 1 ? "repeats" : "repeat"} the text of another one`}; ${disabled.total === 0 ? "none is disabled" : `${countText(disabled.total, "chunk")} ${disabled.total === 1 ? "is" : "are"} disabled`}.`,
    body: [
      renderFound(
        duplicates,
        "Copies cost storage and tokens, and take places in the results of a search. Keep one of each, and remove the others from their sources. Where their answers differ, decide first which one is right.",
      ),
      renderFound(
        disabled,
        "Somebody switched these chunks off: no search finds them. Check that this is still intended. A re-index enables them again.",
      ),
    ],
  };
}

/** SQL: statistics of chunk lengths. Quartiles are interpolated. */
const figures = `count(*) AS chunks, sum(characters)::DOUBLE AS all_characters, sum(tokens)::DOUBLE AS tokens,
  min(characters) AS shortest, quantile_cont(characters, 0.25) AS quartile_1, median(characters) AS median,
  quantile_cont(characters, 0.75) AS quartile_3, max(characters) AS longest`;

/** Chunks with fewer characters can hardly answer a question. */
const veryShort = 20;
/** A chunk this many times as long as the median counts as long. */
const longTimes = 5;

/** Shows the chunk lengths of every document, in characters. Leaves out chunks of unknown length. */
export async function lengthsSection(source: Source): Promise<Section> {
  const all = await source.row(`SELECT ${figures} FROM chunks WHERE characters IS NOT NULL`);
  const lengths = `SELECT *, coalesce(word_count, length(content)) AS length FROM ${source.rowsOfRun("chunks")}`;
  const table = await source.table({
    caption: "Lengths of chunks per document, in characters",
    columns: [
      column.document,
      ...column.numbers({ Chunks: "chunks", Shortest: "shortest", Median: "median", Longest: "longest" }),
      ...column.numbers({ Characters: "all_characters", Tokens: "tokens" }),
    ],
    select: `SELECT dataset_id, document_id, ${figures} FROM chunks WHERE characters IS NOT NULL GROUP BY dataset_id, document_id`,
    order: "chunks DESC, dataset_id, document_id",
    query: source.askRun(
      `SELECT dataset_id, document_id, count(*) AS chunks, sum(length) AS characters, min(length) AS shortest, median(length) AS median, max(length) AS longest
      FROM (${lengths}) WHERE length IS NOT NULL GROUP BY dataset_id, document_id ORDER BY chunks DESC`,
    ),
  });
  const section = { id: "lengths", title: "Lengths of chunks" };
  if (numberOf(all.chunks) === 0) return { ...section, lead: "The dump has no chunk.", body: "" };
  const first = (order: string) =>
    `(SELECT dataset_id, document_id, characters FROM chunks WHERE characters IS NOT NULL ORDER BY ${order}, row LIMIT 1)`;
  const [short, long] = await source.rows(
    `FROM (FROM ${first("characters")} UNION ALL FROM ${first("characters DESC")}) LEFT JOIN names USING (dataset_id, document_id)
    ORDER BY characters`,
  );
  return {
    ...section,
    lead: leadOf(all, short, long),
    body: [renderBoxes(all, table.rows, table.total), renderTable(table)],
  };
}

/** Names the documents with the shortest and the longest chunk, if these are unusual. */
function leadOf(all: SqlRow, short: SqlRow | undefined, long: SqlRow | undefined): HtmlValue {
  const [least, middle, most] = [numberOf(all.shortest), numberOf(all.median), numberOf(all.longest)];
  const [isShort, isLong] = [least < veryShort, most > longTimes * Math.max(middle, 1)];
  return sentences(
    `Half of ${countText(numberOf(all.chunks), "chunk")} have at most ${countText(Math.round(middle), "character")}.`,
    !isShort && !isLong && `The shortest has ${numberText(least)}, the longest ${numberText(most)}: nothing unusual.`,
    isShort &&
      html`The shortest has ${numberText(least)} (in ${short && documentName(short)}): so few characters hardly answer a question.`,
    isLong &&
      html`The longest has ${numberText(most)} (in ${long && documentName(long)}), ${Math.round(most / Math.max(middle, 1))} times as many as the median: so long a chunk mixes topics, and its end may not be found.`,
  );
}

/** Renders box plots on one scale: all chunks first, then each document. */
function renderBoxes(all: SqlRow, rows: readonly SqlRow[], total: number): HtmlValue {
  const shown = rows.slice(0, mostChartRows);
  const place = scaleTo(numberOf(all.longest));
  const powers = [0, 10, 100, 1000, 10_000, 100_000, 1_000_000].filter((power) => place(power) <= 100);
  return renderChart(
    {
      id: "length-boxes",
      finding: `Half of all chunks have ${numberText(Math.round(numberOf(all.quartile_1)))} to ${numberText(Math.round(numberOf(all.quartile_3)))} characters.`,
      hint: `The line goes from the shortest chunk to the longest, the box holds the middle half, the upright stroke and the number are the median. From 10 on, each step of the scale is ten times the one before.${shownText(shown.length, total, "those with the most chunks")}`,
      ticks: Object.fromEntries(powers.map((power) => [place(power), numberText(power)])),
    },
    [
      boxRow(html`<strong>All chunks</strong>`, all, place),
      ...shown.map((row) => boxRow(documentName(row, 80), row, place)),
    ],
  );
}

/** A logarithmic scale from 0. Returns positions in percent of its width. */
function scaleTo(longest: number): (characters: number) => number {
  const log = (characters: number) => Math.log10(1 + characters / 10);
  return (characters) => (100 * log(characters)) / log(Math.max(longest, 1));
}

function boxRow(name: HtmlValue, row: SqlRow, place: (characters: number) => number): ChartRow {
  const at = (figure: string) => place(numberOf(row[figure]));
  const characters = (figure: string) => numberText(Math.round(numberOf(row[figure])));
  const title = `${characters("shortest")} to ${characters("longest")} characters; the middle half ${characters("quartile_1")} to ${characters("quartile_3")}`;
  const middle = rowHeight / 2;
  return {
    name,
    value: characters("median"),
    pieces: [
      { from: at("shortest"), to: at("longest"), mark: "mark-1", top: middle - 1, height: 2 },
      { from: at("quartile_1"), to: at("quartile_3"), mark: "mark-6", title },
      { from: at("median") - 0.2, to: at("median") + 0.2, mark: "ink", top: 2, height: rowHeight - 4 },
    ],
  };
}
