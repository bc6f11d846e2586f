import type { Choice, Dialogue } from "../dialogue/dialogue.js";
import { fileFormats } from "../dump/formats/formats.js";
import { UsageError } from "../errors.js";
import type { AskedDataset, Named } from "./asked-job.js";
import { type Access, type SurveySetting, surveyDocuments } from "./survey.js";

const every = "all";

/** Asks for the datasets to export; `given` names them by id or name. UsageError for a name that no dataset has. */
export async function askDatasets(
  given: readonly string[],
  listed: readonly Named[],
  dialogue: Dialogue,
): Promise<"all" | readonly Named[]> {
  if (given.includes(every)) return every;
  if (given.length > 0) return namedOf(given, listed, "--dataset");
  const ids = await dialogue.chooseMany({
    message: "Datasets to export",
    choices: [{ value: every, label: "All, also those that are created later" }, ...choicesFrom(listed)],
    defaults: [],
    flag: "--dataset",
  });
  return ids.includes(every) ? every : listed.filter(({ id }) => ids.includes(id));
}

/** The service that is asked for documents, and who chooses among them. */
interface Asking {
  readonly access: Access;
  readonly dialogue: Dialogue;
  readonly setting: SurveySetting;
}

/** Asks for the documents of the one dataset; of several datasets every document is exported. */
export async function askDocuments(
  given: readonly string[],
  datasets: readonly Named[],
  { access, dialogue, setting }: Asking,
): Promise<readonly AskedDataset[]> {
  const [only] = datasets;
  const wholly = datasets.map((dataset) => ({ ...dataset, documents: every }) as const);
  if (only === undefined || given.includes(every)) return wholly;
  if (datasets.length > 1) return wholly;
  const listed = await surveyDocuments(access, only.id, setting);
  if (given.length > 0) return [{ ...only, documents: namedOf(given, listed, "--document") }];
  const extent = await dialogue.choose({
    message: `Documents of ${labelOf(only)}`,
    choices: [
      { value: every, label: `All ${listed.length}, also those that are added later` },
      { value: "some", label: "Only some of them" },
    ],
  });
  if (extent === every) return wholly;
  const choices = choicesFrom(listed);
  const ids = await dialogue.chooseMany({ message: "Documents to export", choices, defaults: [], flag: "--document" });
  return [{ ...only, documents: listed.filter(({ id }) => ids.includes(id)) }];
}

/** Asks for the formats of the files. */
export async function askFormats(given: readonly string[], dialogue: Dialogue): Promise<readonly string[]> {
  const known = [...fileFormats, "duckdb"];
  const wrong = given.find((format) => !known.includes(format));
  if (wrong !== undefined)
    throw new UsageError(`--format: got ${JSON.stringify(wrong)}, expected ${known.join(", ")}`, []);
  if (given.length > 0) return [...new Set(given)];
  const hints: Readonly<Record<string, string>> = {
    jsonl: "lossless text, one row a line",
    csv: "for spreadsheets",
    parquet: "for data frames",
    duckdb: "a database with history, for SQL",
  };
  const choices = known.map((value) => ({ value, label: value, hint: hints[value] ?? "" }));
  return dialogue.chooseMany({ message: "Formats", choices, defaults: ["jsonl", "duckdb"], flag: "--format" });
}

/** Asks where later runs find the key. */
export function askKeyPlace(file: string, dialogue: Dialogue): Promise<"file" | "variable"> {
  return dialogue.choose({
    message: "Where should later runs find the key?",
    choices: [
      { value: "file", label: `In ${file}`, hint: "only you can read it" },
      { value: "variable", label: "In the variable KNOWLEDGE_API_KEY", hint: "you set it before each run" },
    ],
  });
}

/** Finds what ids or names stand for. UsageError with every one that stands for nothing, or for several. */
function namedOf(given: readonly string[], listed: readonly Named[], flag: string): readonly Named[] {
  const found = given.map((text) => ({ text, matches: listed.filter(({ id, name }) => id === text || name === text) }));
  const problems = found.flatMap(({ text, matches }) => {
    if (matches.length === 1) return [];
    const several = matches.map(({ id }) => id).join(", ");
    const there = listed.slice(0, 10).map(labelOf).join(", ");
    const message = matches.length > 1 ? `has several ids: ${several}` : `not found; the service lists ${there}`;
    return [{ path: `${flag} ${text}`, message }];
  });
  if (problems.length > 0) throw new UsageError("No job file was written:", problems);
  return [...new Set(found.flatMap(({ matches }) => matches))]; // an id and a name may stand for the same
}

function choicesFrom(listed: readonly Named[]): readonly Choice<string>[] {
  return listed.map((named) => ({ value: named.id, label: labelOf(named), hint: named.id }));
}

function labelOf({ id, name }: Named): string {
  return name ?? id;
}
