import { blankControls, cutText } from "../safe-text.js";

/** Something of the service that a job names by id, with its name as a comment. */
export interface Named {
  readonly id: string;
  /** null where the service did not tell it. */
  readonly name: string | null;
}

/** The answers that flags gave; the dialogue asks for the others. */
export interface GivenAnswers {
  readonly baseUrl: string | undefined;
  readonly allowHttp: boolean;
  /** Ids or names, or `all`. */
  readonly datasets: readonly string[];
  /** Ids or names of documents of the one dataset, or `all`. */
  readonly documents: readonly string[];
  readonly formats: readonly string[];
}

/** The answers of a dialogue, from which a job file is made. */
export interface AskedJob {
  readonly baseUrl: string;
  readonly allowHttp: boolean;
  /** The place of the key: a variable, or a file. */
  readonly key: { readonly variable: string } | { readonly file: string };
  readonly datasets: "all" | readonly AskedDataset[];
  readonly formats: readonly string[];
}

export interface AskedDataset extends Named {
  readonly documents: "all" | readonly Named[];
}

/** Renders a job file that runs as it stands. `name` is given where that of the file cannot be the name of a job. */
export function renderAskedJob({ baseUrl, allowHttp, key, datasets, formats }: AskedJob, name?: string): string {
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
    "  dir: output # each run is a folder below it",
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
  const text = cutText(blankControls(name ?? ""), 80).trim();
  return text === "" ? "" : ` # ${text}`;
}

/** A YAML string; a UUID needs no quotes. */
function quoted(text: string): string {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text) ? text : JSON.stringify(text);
}
