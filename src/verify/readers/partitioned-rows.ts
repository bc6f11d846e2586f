import type { Kind } from "../../rows/columns.js";
import { isShortened, shortText, unguardedText } from "./long-text.js";
import { type FileOfRows, type Problem, type ReadRow, type RowSource, UnreadableError } from "./row-source.js";

/** A file of the rows of one dataset. */
export interface Partition {
  readonly dataset: string;
  readonly rows: RowSource;
}

/**
 * The rows of a kind that lie in a file for each dataset, file after file and numbered throughout. A row of another dataset is a
 * problem, and so is a document that stands behind one with a larger id.
 */
export function partitionedRows(name: string, kind: Kind, partitions: readonly Partition[]): RowSource {
  let files: readonly (FileOfRows & { rows: number })[] = [];
  async function* read(problem: Problem): AsyncGenerator<Iterable<ReadRow>> {
    files = partitions.map(({ rows }) => ({ name: rows.name, rows: 0 }));
    let before = 0;
    for (const [at, { dataset, rows }] of partitions.entries()) {
      const counted = files[at] ?? { name, rows: 0 };
      const start = before;
      const tell: Problem = (row, message, kind) => {
        counted.rows = Math.max(counted.rows, row);
        problem(start + row, message, kind);
      };
      const check = placeCheck(dataset, tell);
      try {
        for await (const some of rows.read(tell)) {
          yield (function* () {
            for (const { row, text } of some) {
              counted.rows = row;
              if (text) check(row, text);
              yield { row: start + row, text };
            }
          })();
        }
      } catch (error) {
        throw error instanceof UnreadableError ? new UnreadableError(error.message, rows.name) : error;
      }
      before += counted.rows;
    }
  }
  return { name, kind, read, files: () => files };
}

/** Checks that rows are of a dataset, and that their documents stand by their ids. */
function placeCheck(dataset: string, tell: Problem): (row: number, cells: readonly (string | null)[]) => void {
  const named = shortText(dataset);
  let last = "";
  return (row, [its, id]) => {
    if (its != null && its !== named && unguardedText(its) !== named)
      return tell(row, `is of dataset ${its}, and lies in the partition of another`, "in another partition");
    if (id == null || isShortened(id)) return;
    if (id < last) tell(row, `is of document ${id}, which belongs before document ${last}`, "order of documents");
    last = id;
  };
}
