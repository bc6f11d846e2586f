import { countText, numberText as text } from "../../amounts.js";
import type { SqlRow } from "../../duckdb/read-rows.js";
import { type ChartRow, mostChartRows, renderChart, rowHeight, shownText } from "../page/chart.js";
import { type HtmlValue, html } from "../page/html.js";
import { column, documentName, numberOf, renderTable } from "../page/table.js";
import type { Source } from "../source.js";
import { type Section, sentences } from "./section.js";

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
  return {
    ...section,
    lead: leadOf(all, await ends(source)),
    body: [renderBoxes(all, table.rows, table.total), renderTable(table)],
  };
}

/** The documents with the shortest and the longest chunk. */
async function ends(source: Source): Promise<readonly (SqlRow | undefined)[]> {
  const first = (order: string) =>
    `(SELECT dataset_id, document_id, characters FROM chunks WHERE characters IS NOT NULL ORDER BY ${order}, row LIMIT 1)`;
  return source.rows(
    `FROM (FROM ${first("characters")} UNION ALL FROM ${first("characters DESC")}) LEFT JOIN names USING (dataset_id, document_id)
    ORDER BY characters`,
  );
}

function leadOf(
  { chunks, shortest, median, longest }: SqlRow,
  [short, long]: readonly (SqlRow | undefined)[],
): HtmlValue {
  const [least, middle, most] = [numberOf(shortest), numberOf(median), numberOf(longest)];
  const [isShort, isLong] = [least < veryShort, most > longTimes * Math.max(middle, 1)];
  return sentences(
    `Half of ${countText(numberOf(chunks), "chunk")} have at most ${countText(Math.round(middle), "character")}.`,
    !isShort && !isLong && `The shortest has ${text(least)}, the longest ${text(most)}: nothing unusual.`,
    isShort &&
      html`The shortest has ${text(least)} (in ${short && documentName(short)}): so few characters hardly answer a question.`,
    isLong &&
      html`The longest has ${text(most)} (in ${long && documentName(long)}), ${Math.round(most / Math.max(middle, 1))} times as many as the median: so long a chunk mixes topics, and its end may not be found.`,
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
      finding: `Half of all chunks have ${text(Math.round(numberOf(all.quartile_1)))} to ${text(Math.round(numberOf(all.quartile_3)))} characters.`,
      hint: `The line goes from the shortest chunk to the longest, the box holds the middle half, the upright stroke and the number are the median. From 10 on, each step of the scale is ten times the one before.${shownText(shown.length, total, "those with the most chunks")}`,
      ticks: Object.fromEntries(powers.map((power) => [place(power), text(power)])),
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
  const characters = (figure: string) => text(Math.round(numberOf(row[figure])));
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
