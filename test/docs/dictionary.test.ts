import { expect, test } from "vitest";
import { histories, historyKinds, tables } from "../../src/database/tables.js";
import { historyViews, stateViews } from "../../src/database/views.js";
import { allKinds, columns, isKind } from "../../src/rows/columns.js";

interface Column {
  readonly name: string;
  readonly type?: string;
  readonly unit?: string | undefined;
  readonly about: string;
}

interface Section {
  readonly name: string;
  readonly about: string;
  readonly columns: readonly Column[];
}

/** Units that the page leaves out, because the type or the description already states them. */
const plain = [undefined, "UTC", "times"];

function lineOf({ name, type, unit, about }: Column): string {
  const measured = plain.includes(unit) ? type : `${type}, ${unit}`;
  return `- \`${name}\`${type === undefined ? "" : ` (${measured})`}: ${about}`;
}

const tableSection = (name: string): Section => ({
  ...{ name, about: tables[name]?.about ?? "" },
  columns: tables[name]?.columns.filter((column) => !isOfRow(name, column.name)) ?? [],
});

const fileSections = allKinds.map((kind) => ({ ...tableSection(kind), columns: columns[kind] }));
const ownSections = Object.keys(tables).flatMap((name) => (isKind(name) ? [] : [tableSection(name)]));
const viewSections = Object.entries({ ...stateViews, ...historyViews }).map(([name, view]) => ({
  ...{ name, about: view.about },
  columns: Object.entries(view.columns).map(([column, about]) => ({ name: column, about })),
}));

/** Columns that have the same meaning in three or more sections; returns the first one of each. */
function findCommon(): readonly Column[] {
  const all: readonly Column[] = [...fileSections, ...ownSections, ...viewSections].flatMap((each) => each.columns);
  const isSame = (one: Column) => (other: Column) => one.name === other.name && one.about === other.about;
  return all.filter((column, at) => all.findIndex(isSame(column)) === at && all.filter(isSame(column)).length > 2);
}

const common = findCommon();
const isCommon = ({ name, about }: Column) => common.some((other) => other.name === name && other.about === about);

const meaningOf = ({ about, unit }: Column) => (unit === undefined ? about : `${about} (${unit})`);

/** The earlier files that already describe the column. */
function describedIn(section: string, column: Column): readonly string[] {
  const end = fileSections.findIndex(({ name }) => name === section);
  const before = end < 0 ? fileSections : fileSections.slice(0, end);
  const isSame = (other: Column) => other.name === column.name && meaningOf(other) === meaningOf(column);
  return before.filter(({ columns: others }) => others.some(isSame)).map((file) => file.name);
}

/**
 * A heading, a sentence, and a line for each column. Adjacent columns share a line if all are common, or described by
 * the same file.
 */
function textOf({ name, about, columns: shown }: Section): string {
  const lines: { names: string; rest: string }[] = [];
  for (const column of shown) {
    const rests = isCommon(column) ? [""] : describedIn(name, column).map((file) => `: as in ${file}`);
    const last = lines.at(-1);
    const [rest] = rests;
    if (rest === undefined) lines.push({ names: lineOf(column), rest: "" });
    else if (last?.names.endsWith("`") && rests.includes(last.rest)) last.names += `, \`${column.name}\``;
    else lines.push({ names: `- \`${column.name}\``, rest });
  }
  const list = lines.map(({ names, rest }) => names + rest).join("\n");
  return `### ${name}\n\n${about.charAt(0).toUpperCase()}${about.slice(1)}.\n\n${list}`;
}

/** The whole page, generated from the columns of files, tables and views. */
function dictionary(): string {
  const files = [head, common.map(lineOf).join("\n"), "## Files", ...fileSections.map(textOf)];
  return `${[...files, tablesHead, ...ownSections.map(textOf), viewsHead, ...viewSections.map(textOf)].join("\n\n")}\n`;
}

/** Whether a column of a change table comes from the changed row. */
function isOfRow(table: string, name: string): boolean {
  const kind = historyKinds.find((each) => histories[each].table === table);
  return kind !== undefined && columns[kind].some((column) => column.name === name);
}

const head = `# Data dictionary

Every column of the files and of the database, in order. The database has the same texts as comments. A table with the name of a file has the columns of that file and \`run_id\`, the run that
read the row (\`indexing_status\` has none). [Values](output.md#values) says how each type is written. "Open" after a list of values means that the service may add others.

Below, a column without a description is one of these:`;

const tablesHead = `## Other tables of the database

\`chunk_changes\` and \`child_chunk_changes\` also have the columns of the row that changed, with their values before the change.`;

const viewsHead = "## Views of the database";

/** To regenerate the page: `npx vitest run --config test/vitest.config.ts test/docs/dictionary.test.ts -u`. */
test("docs/dictionary.md has every column, with its type, unit and meaning", async () => {
  await expect(dictionary()).toMatchFileSnapshot("../../docs/dictionary.md");
});
