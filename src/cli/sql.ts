import { exitCodes, type Problem } from "../errors.js";
import type { QuerySource } from "../query/query-database.js";
import type { QueryResult, QueryRow } from "../query/run-query.js";
import { bucketNames } from "../store/copy/bucket-names.js";

import { csvOfQuery, jsonOfQuery, objectOfQuery } from "../terminal/query-pieces.js";
import { renderQuery } from "../terminal/query-table.js";
import { paintFor } from "../terminal/text.js";
import { type ArgumentsOf, defineCommand, type Options, type Positionals } from "./command.js";
import { wrongLine } from "./line/wrong-line.js";
import { commonOptions, dirOption, environmentOption, memoryOption, placesFrom } from "./options.js";
import { printPieces, printResult } from "./print-result.js";
import type { World } from "./world.js";

const epilog = `Examples:
  kbdump sql nightly "SELECT document_id, count(*) AS chunks FROM chunks GROUP BY ALL"
  kbdump sql nightly.yaml "FROM coverage" --format csv
  kbdump sql output/nightly/nightly.duckdb - < query.sql

The database is opened read-only. Times are shown in UTC.

Exit codes: 0 answered · 1 the database could not be read · 2 wrong usage, no database, or a wrong statement · 130, 143 interrupted`;

const positionals = {
  source: { type: "string", demandOption: true, names: "file", describe: "a job, a database file, or a run" },
  statement: { type: "string", describe: "one SQL statement; without it, or with -, it is read from stdin" },
} as const satisfies Positionals;

const options = {
  ...commonOptions,
  format: { choices: ["table", "json", "csv"], default: "table", describe: "output: table (default), csv or json" },
  limit: { type: "string", describe: "the most rows to print; 1000 in a table, all of them otherwise" },
  ...dirOption,
  ...memoryOption,
  ...environmentOption,
} as const satisfies Options;

type SqlArguments = ArgumentsOf<typeof positionals & typeof options>;

/** Rows of a table that are printed, as it is held in memory. */
const tableRows = 1_000;

/** `kbdump sql <job or database> "SELECT …"`: asks the database of a job. */
export const sqlCommand = defineCommand({
  name: "sql <source> [statement]",
  about: "ask the database of a job by SQL, read-only",
  positionals,
  options,
  epilog,
  async run(args, world) {
    const limit = await checkArguments(args);
    const { findDatabase } = await import("../store/find-run.js");
    const source = await findDatabase(args.source, placesFrom(args, world));
    const isPiped = args.statement === undefined || args.statement === "-";
    const statement = isPiped ? await textOf(world.openStdin?.()) : args.statement;
    const { queryDatabase } = await import("../query/query-database.js"); // heavy; --help does without
    const setting = { memory: args.memory, signal: world.signal, limit };
    await queryDatabase(source, statement, setting, (result) => print(result, source, args, world));
    return exitCodes.complete;
  },
});

/** The most rows to print; UsageError with everything that is wrong. */
async function checkArguments({ memory, format, json, limit }: SqlArguments): Promise<number | undefined> {
  const { checkMemory } = await import("../job/check-job.js");
  const problems: Problem[] = [...checkMemory(memory)];
  if (limit !== undefined && !/^[1-9]\d{0,8}$/.test(limit))
    problems.push({ path: "--limit", message: `got ${JSON.stringify(limit)}, expected a whole number from 1 on` });
  if (json && format === "csv") problems.push({ path: "--json", message: "it contradicts --format csv" });
  if (problems.length > 0) throw wrongLine(problems);
  if (limit !== undefined) return Number(limit);
  return format === "table" && !json ? tableRows : undefined;
}

async function textOf(stdin: ReturnType<NonNullable<World["openStdin"]>> | undefined): Promise<string> {
  if (!stdin || stdin.isTTY) {
    const message = 'expected in quotes, such as "SELECT count(*) FROM chunks", or on stdin';
    throw wrongLine([{ path: "<statement>", message }]);
  }
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of stdin) text += typeof piece === "string" ? piece : decoder.decode(piece, { stream: true });
  return text;
}

async function print(result: QueryResult, source: QuerySource, args: SqlArguments, world: World): Promise<void> {
  const { stdout, env } = world;
  const asked = bucketNames(env)("folder" in source ? source.folder : source.database);
  if (args.json) return printPieces(world, objectOfQuery(result, asked));
  if (args.format === "json") return printPieces(world, jsonOfQuery(result));
  if (args.format === "csv") return printPieces(world, csvOfQuery(result));
  const rows: QueryRow[] = [];
  for await (const some of result.rows) rows.push(...some);
  const view = { paint: paintFor(stdout, env), columns: stdout.isTTY ? (stdout.columns ?? 80) : undefined };
  return printResult(world, renderQuery({ ...result, rows }, view));
}
