import type { Choice, Dialogue, Question } from "../../cli/dialogue.js";
import { terminalText } from "../../cli/text.js";
import { typedKey } from "../../client/refused-answer.js";
import { discoverDocuments, listDatasets } from "../../crawl/discover-documents.js";
import { Prefetch } from "../../crawl/prefetch.js";
import { fileFormats } from "../../dump/formats/formats.js";
import { StopError, UsageError } from "../../errors.js";
import { loadJob } from "../../job/load-job.js";
import type { JobFlags } from "../../job/merge-flags.js";
import { openService, withDefaults } from "../../job/open-service.js";
import { plainText } from "../../safe-text.js";
import { causeFirst } from "../../words.js";

/**
 * Asks for a service and its key, tries them, and asks which datasets and documents to export, by name. Rejects with
 * InterruptedError if the user cancels, and with UsageError or StopError if a wrong answer cannot be corrected. `keyToSave`: set if the
 * user wants to save the key in the job's key file.
 */
export async function askJob(
  given: GivenAnswers,
  keyFile: string,
  dialogue: Dialogue,
  context: ListContext,
): Promise<{ readonly job: AskedJob; readonly keyToSave: string | undefined }> {
  const [access, listed] = await askAccess(given, dialogue, context);
  const chosen = await askDatasets(given.datasets, listed, dialogue);
  const datasets = await askDocuments(given.documents, chosen, dialogue, (id) => listDocuments(access, id, context));
  const formats = await askFormats(given.formats, dialogue);
  const isSaved = context.env[keyVariable] === undefined && (await askKeySource(keyFile, dialogue)) === "file";
  const key = isSaved ? { file: keyFile } : { variable: keyVariable };
  return {
    job: { baseUrl: access.baseUrl, allowHttp: access.allowHttp, key, datasets, formats },
    keyToSave: isSaved ? access.key : undefined,
  };
}

/** The environment variable that holds the key, unless a job names another one. */
const keyVariable = "KNOWLEDGE_API_KEY";

const urlQuestion: Question = {
  message: "Base URL of the service",
  example: "https://kb.example.com/v1",
  flag: "--base-url",
};
const keyQuestion: Question = {
  message: "API key of the datasets",
  example: "dataset-…",
  flag: keyVariable,
  isSecret: true,
};

/** Asks for base URL and key until the service lists its datasets, and returns these. Without a terminal, the first error is final. */
async function askAccess(
  given: Pick<GivenAnswers, "baseUrl" | "allowHttp" | "datasets">,
  dialogue: Dialogue,
  context: ListContext,
): Promise<readonly [Access, readonly Named[]]> {
  const ids = given.datasets.filter(isUuid);
  let url = given.baseUrl;
  let knownKey = context.env[keyVariable];
  if (url === undefined) dialogue.say("Dify shows the base URL and the keys under Knowledge, Service API.");
  for (;;) {
    const missing = [...(url === undefined ? [urlQuestion] : []), ...(knownKey === undefined ? [keyQuestion] : [])];
    const answers = await dialogue.ask(missing);
    const baseUrl: string = answers.get(urlQuestion.flag) ?? url ?? "";
    const key: string = answers.get(keyQuestion.flag) ?? knownKey ?? "";
    dialogue.say(`Asking ${baseUrl} …`);
    try {
      const access = { baseUrl, allowHttp: given.allowHttp, key, isTyped: key !== context.env[keyVariable] };
      const needsList = ids.length === 0 || ids.length < given.datasets.length;
      return [access, needsList ? await listAll(access, context) : await surveyNamed(access, ids, context)];
    } catch (error) {
      const isOurs = error instanceof StopError || error instanceof UsageError;
      if (!dialogue.isInteractive || !isOurs || context.signal.aborted) throw error;
      dialogue.say(causeFirst(reasonIn(error)));
      const isKeyWrong = isRefusedKey(error);
      url = isKeyWrong ? baseUrl : undefined;
      knownKey = isKeyWrong ? undefined : key;
    }
  }
}

/** The error without the flags that it names, because the user answered questions. */
function reasonIn(error: StopError | UsageError): string {
  return error instanceof UsageError ? error.problems.map(({ message }) => message).join("; ") : error.message;
}

/** Checks the key by listing the documents of the given datasets, because a key for a single dataset may not list datasets. */
async function surveyNamed(access: Access, ids: readonly string[], context: ListContext): Promise<readonly Named[]> {
  for (const id of ids) await listDocuments(access, id, context);
  return ids.map((id) => ({ id, name: null }));
}

function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/** Whether the service refused the key, according to the error or its cause. */
function isRefusedKey(error: Error): boolean {
  const statuses = [error, error.cause].map((each) => (each instanceof StopError ? each.status : undefined));
  return statuses.includes(401);
}

const every = "all";

/** Asks for the datasets to export; `given` has their ids or names. Throws UsageError for an unknown name. */
async function askDatasets(
  given: readonly string[],
  listed: readonly Named[],
  dialogue: Dialogue,
): Promise<"all" | readonly Named[]> {
  if (given.includes(every)) return every;
  if (given.length > 0) return namedOf(given, listed, "--dataset");
  const ids = await dialogue.chooseMany({
    message: "Datasets to export",
    choices: [{ value: every, label: "All, including those created later" }, ...choicesFrom(listed)],
    defaults: [],
    flag: "--dataset",
  });
  return ids.includes(every) ? every : listed.filter(({ id }) => ids.includes(id));
}

/** Asks for the documents of a single dataset. With several datasets, every document is exported. */
async function askDocuments(
  given: readonly string[],
  datasets: "all" | readonly Named[],
  dialogue: Dialogue,
  list: (id: string) => Promise<readonly Named[]>,
): Promise<"all" | readonly AskedDataset[]> {
  const [only, ...others] = datasets === every ? [] : datasets;
  const isOne = only !== undefined && others.length === 0;
  if (!isOne && given.some((document) => document !== every))
    throw new UsageError("--document: needs exactly one --dataset", []);
  if (datasets === every) return every;
  const wholly = datasets.map((dataset) => ({ ...dataset, documents: every }) as const);
  if (!isOne || given.includes(every)) return wholly;
  const listed = await list(only.id);
  if (given.length > 0) return [{ ...only, documents: namedOf(given, listed, "--document") }];
  const extent = await dialogue.choose({
    message: `Documents of ${labelOf(only)}`,
    choices: [
      { value: every, label: `All ${listed.length}, including those added later` },
      { value: "some", label: "Only some of them" },
    ],
  });
  if (extent === every) return wholly;
  const choices = choicesFrom(listed);
  const ids = await dialogue.chooseMany({ message: "Documents to export", choices, defaults: [], flag: "--document" });
  return [{ ...only, documents: listed.filter(({ id }) => ids.includes(id)) }];
}

async function askFormats(given: readonly string[], dialogue: Dialogue): Promise<readonly string[]> {
  const known = [...fileFormats, "duckdb"];
  const wrong = given.find((format) => !known.includes(format));
  if (wrong !== undefined)
    throw new UsageError(`--format: got ${JSON.stringify(wrong)}, expected ${known.join(", ")}`, []);
  if (given.length > 0) return [...new Set(given)];
  const hints: Readonly<Record<string, string>> = {
    jsonl: "lossless text, one row per line",
    csv: "for spreadsheets",
    parquet: "for data frames",
    duckdb: "a database with history, for SQL",
  };
  const choices = known.map((value) => ({ value, label: value, hint: hints[value] ?? "" }));
  return dialogue.chooseMany({ message: "Formats", choices, defaults: ["jsonl", "duckdb"], flag: "--format" });
}

/** Asks where later runs should find the key. */
function askKeySource(file: string, dialogue: Dialogue): Promise<"file" | "variable"> {
  return dialogue.choose({
    message: "Where should later runs find the key?",
    choices: [
      { value: "file", label: `In ${file}`, hint: "only you can read it" },
      { value: "variable", label: "In the variable KNOWLEDGE_API_KEY", hint: "you set it before each run" },
    ],
  });
}

/** Looks up ids or names. Throws UsageError listing those that match nothing or several things. */
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
  return [...new Set(found.flatMap(({ matches }) => matches))]; // an id and a name may match the same thing
}

function choicesFrom(listed: readonly Named[]): readonly Choice<string>[] {
  return listed.map((named) => ({ value: named.id, label: labelOf(named), hint: named.id }));
}

function labelOf({ id, name }: Named): string {
  return name ?? id;
}

/** The answers given by flags. The dialogue asks for the rest. */
interface GivenAnswers {
  readonly baseUrl: string | undefined;
  readonly allowHttp: boolean;
  /** Ids or names, or `all`. */
  readonly datasets: readonly string[];
  /** Ids or names of documents of the one dataset, or `all`. */
  readonly documents: readonly string[];
  readonly formats: readonly string[];
}

/** The answers for a new job file. */
export interface AskedJob {
  readonly baseUrl: string;
  readonly allowHttp: boolean;
  /** The place of the key: a variable or a file. */
  readonly key: { readonly variable: string } | { readonly file: string };
  readonly datasets: "all" | readonly AskedDataset[];
  readonly formats: readonly string[];
}

interface AskedDataset extends Named {
  readonly documents: "all" | readonly Named[];
}

/** Renders a job file that works as it is. `name`: undefined if the file name is the job name; `out`: the output folder. */
export function renderAskedJob(job: AskedJob, name?: string, out?: string): string {
  const { baseUrl, allowHttp, key, datasets, formats } = job;
  const place = "file" in key ? `api_key_file: ${quoted(key.file)}` : `api_key_env: ${key.variable}`;
  return [
    "# A job of kbdump, written by `kbdump init --ask`. `kbdump init other.yaml` writes a file that shows every option.",
    "",
    ...(name === undefined ? [] : [`name: ${name}`, ""]),
    "service:",
    `  base_url: ${quoted(baseUrl)}`,
    ...(allowHttp ? ["  allow_http: true # shows the key to the network"] : []),
    `  ${place} # the key itself is never in this file`,
    "",
    ...renderDatasets(datasets),
    "",
    "output:",
    `  dir: ${out === undefined ? "output" : JSON.stringify(out)} # each run is a folder below it`,
    `  formats: [${formats.join(", ")}]`,
    "  # keep: {last: 14} # runs to keep; absent: all of them",
    "",
  ].join("\n");
}

function renderDatasets(datasets: AskedJob["datasets"]): readonly string[] {
  if (datasets === "all") return ["datasets: all # every document of every dataset that the key can see"];
  return [
    "datasets:",
    ...datasets.flatMap((dataset) => [`  - ${renderId(dataset)}`, ...renderDocuments(dataset.documents)]),
  ];
}

function renderDocuments(documents: AskedDataset["documents"]): readonly string[] {
  if (documents === "all") return ["    documents: all # or a list of ids"];
  return ["    documents:", ...documents.map(({ id, name }) => `      - ${quoted(id)}${comment(name)}`)];
}

function renderId({ id, name }: Named): string {
  return `id: ${quoted(id)}${comment(name)}`;
}

function comment(name: string | null): string {
  const text = terminalText(name ?? "", 80).trim();
  return text === "" ? "" : ` # ${text}`;
}

/** A YAML string. A UUID needs no quotes. */
function quoted(text: string): string {
  return isUuid(text) ? text : JSON.stringify(text);
}

/** A dialogue without a terminal: it takes the default of every question. Throws UsageError, naming the flag, if there is none. */
export const noDialogue: Dialogue = {
  isInteractive: false,
  say: () => {},
  ask: async (questions) => {
    if (questions.length === 0) return new Map();
    const problems = questions.map(({ flag, message, example }) => ({
      path: flag,
      message: `${message}, such as ${example}`,
    }));
    throw new UsageError("There is no terminal for questions. Give what is missing as flags and variables:", problems);
  },
  choose: async ({ message, choices: [first] }) => {
    if (first === undefined) throw new RangeError(`no choices: ${message}`);
    return first.value;
  },
  chooseMany: async ({ flag, choices, defaults }) => {
    if (defaults.length > 0) return defaults;
    const listed = choices.slice(0, 50).map(({ value, label }) => ({ path: value, message: label }));
    throw new UsageError(
      `There is no terminal for questions. Choose with ${flag}, which takes an id or a name:`,
      listed,
    );
  },
};

/** A service and its key. */
interface Access {
  readonly baseUrl: string;
  readonly allowHttp: boolean;
  readonly key: string;
  /** Whether the key was typed at the prompt rather than read from the variable. */
  readonly isTyped: boolean;
}

/** The context for requests to the service. */
interface ListContext {
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** A dataset or document that a job names by id, with its name for a comment. */
interface Named {
  readonly id: string;
  /** null if the service did not report it. */
  readonly name: string | null;
}

/** How many pages of a list to request ahead. */
const pagesAhead = 8;

/**
 * Lists the datasets that a key can see. Throws UsageError for an invalid base URL, and StopError if the service cannot be reached,
 * is not the Knowledge API, or refuses the key.
 */
async function listAll(access: Access, context: ListContext): Promise<readonly Named[]> {
  await using opened = await openAt(access, { dataset: every }, context);
  const { wanted } = await listDatasets(opened.client, new Prefetch(pagesAhead));
  return wanted.map(({ dataset, name }) => ({ id: dataset.id, name }));
}

/** Lists the documents of a dataset. Throws StopError if the service does not list them. */
async function listDocuments(access: Access, id: string, context: ListContext): Promise<readonly Named[]> {
  await using opened = await openAt(access, { dataset: id, document: [every] }, context);
  const { found } = await discoverDocuments(opened.client, opened.job, new Prefetch(pagesAhead));
  const [failure] = found?.failures ?? [];
  if (failure !== undefined) throw new StopError(failure);
  const nameOf = (value: unknown) => (typeof value === "string" ? plainText(value, "", 200) : null);
  return (found?.rows ?? []).map((row) => ({ id: String(row.document_id), name: nameOf(row.name) }));
}

async function openAt(
  { baseUrl, allowHttp, key, isTyped }: Access,
  wanted: Pick<JobFlags, "dataset" | "document">,
  { env, signal }: ListContext,
) {
  const flags = { baseUrl, ...(allowHttp ? { allowHttp } : {}), ...wanted };
  const job = await loadJob({ none: true }, flags, env);
  const options = withDefaults({ env: { ...env, [keyVariable]: key }, signal });
  const service = await openService(job, options, isTyped ? { keySource: typedKey } : {});
  return { job, client: service.client, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() };
}
