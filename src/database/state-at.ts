import { columns } from "../rows/columns.js";
import { type HistoryKind, histories } from "./history.js";

export interface StateOptions {
  /** SQL: the changes that have to be taken back, a condition on `run_id`. */
  readonly later: string;
  /** The prefix of the table names: nothing, or a database and a dot. */
  readonly from?: string;
}

/**
 * SQL: the rows of a kind as they were before some changes. Of every chunk, each column has the value that the first of them
 * found that recorded it; what none recorded is as it is now.
 */
export function stateBefore(kind: HistoryKind, { later, from = "" }: StateOptions): string {
  const { table, ids, compared } = histories[kind];
  const kept = columns[kind].filter((column) => !compared.includes(column) || ids.includes(column.name));
  const known = kept.map(({ name }) => `arg_min("${name}", run_id) AS "${name}"`);
  const alive = ids.map(
    (id) => `CASE WHEN arg_max(change, run_id) <> 'removed'
      THEN arg_max(coalesce(new_${id}, "${id}"), run_id) END AS now_${id}`,
  );
  const recorded = compared
    .filter(({ name }) => !ids.includes(name))
    .map(({ name }) => {
      const condition = `whole OR list_contains(differs, '${name}')`;
      return `bool_or(${condition}) AS "had_${name}", arg_min_null("${name}", run_id) FILTER (${condition}) AS "${name}"`;
    });
  const values = columns[kind].map(({ name }) => {
    const had = kept.some((column) => column.name === name) ? "u.lineage IS NOT NULL" : `u."had_${name}"`;
    return `CASE WHEN ${had} THEN u."${name}" ELSE n."${name}" END AS "${name}"`;
  });
  const same = ["dataset_id", "document_id"].map((name) => `n.${name} = u.${name}`);
  const now = ids.map((id) => `n."${id}" = u.now_${id}`);
  return `SELECT ${values.join(", ")}
    FROM ${from}${kind} n FULL JOIN (
      SELECT lineage, arg_min(change, run_id) AS first_change, ${[...known, ...alive, ...recorded].join(", ")}
      FROM (SELECT *, change IN ('changed', 'removed') AS whole FROM ${from}${table} WHERE ${later})
      GROUP BY lineage
    ) u ON ${[...same, ...now].join(" AND ")}
    WHERE u.first_change IS DISTINCT FROM 'added'`;
}
