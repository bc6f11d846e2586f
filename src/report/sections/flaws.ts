import { countText } from "../../amounts.js";
import { listText } from "../../words.js";
import { isNotBlank } from "../load-tables.js";
import { column, numberOf, renderFound } from "../page/table.js";
import type { Source } from "../source.js";
import { type Section, withoutZero } from "./section.js";

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
    caption: "Texts that stand in several chunks, with the first of them",
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
        "Copies cost storage and tokens, and take places in the results of a search. Keep one of each, and remove the others from their sources. Where their answers differ, decide first which one holds.",
      ),
      renderFound(
        disabled,
        "Somebody switched these chunks off: no search finds them. Check that this is still meant. A re-index enables them again.",
      ),
    ],
  };
}
