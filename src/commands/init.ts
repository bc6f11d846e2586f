import { rm, stat, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import * as v from "valibot";
import { type Arguments, defineCommand, type Environment, type Options } from "../cli/command.js";
import { padEnd } from "../cli/display-width.js";
import { allowHttp, dialogueFrom, formatOption, outOption } from "../cli/options.js";
import { commandsBelow, renderParagraphs } from "../cli/outline.js";
import type { Page } from "../cli/text.js";
import { fileFormats } from "../dump/formats/formats.js";
import { exitCodes, UsageError } from "../errors.js";
import { problemText } from "../file-error.js";
import { isJobName } from "../job/job.js";
import { listOf, result, text } from "../schema.js";
import { shellText } from "../shell-text.js";

const epilog = `Examples:
  kbdump init nightly.yaml
  kbdump init nightly.yaml --ask
  kbdump init nightly.yaml --ask --base-url https://kb.example.com/v1 --dataset Handbook

Exit codes: 0 written · 1 the service cannot be reached, or refuses the key · 2 the file exists or cannot be written`;

const options = {
  ask: { type: "boolean", default: false, describe: "ask for service, key, datasets and documents, and try the key" },
  "base-url": {
    type: "string",
    value: "URL",
    needs: "ask",
    describe: "the service, such as https://kb.example.com/v1",
  },
  dataset: {
    type: "string",
    array: true,
    value: "NAME",
    needs: "ask",
    describe: "id or name of a dataset, or all; repeatable",
  },
  document: {
    type: "string",
    array: true,
    value: "NAME",
    needs: "ask",
    describe: "id or name of a document, or all (default); repeatable",
  },
  format: { ...formatOption.format, needs: "ask" },
  out: {
    ...outOption.out,
    describe: "output folder to write into the job file, or s3://bucket/prefix; default: output",
  },
  "allow-http": { ...allowHttp, needs: "ask" },
} as const satisfies Options;

/** `kbdump init [path]`: writes a job file to start from. */
export const command = defineCommand({
  name: "init [path]",
  about: "write a job file: with a comment on every option, or with --ask from your answers",
  positionals: {
    path: { type: "string", default: "job.yaml", names: "file", describe: "file to write; default: job.yaml" },
  },
  options,
  epilog,
  results: () => ({ init: initResult }),
  async run(args, environment) {
    const { path, ask } = args;
    const done = ask ? await askAndWrite(path, args, environment) : await writeCommented(path, args.out);
    const result: InitResult = { status: "complete", path, files: done.written };
    await environment.print(result, (page) => renderNext(done, path, page));
    return exitCodes.complete;
  },
});

/** The outcome of `init`. */
interface Written {
  /** The job file, followed by the key file if there is one. */
  readonly written: readonly string[];
  /** The steps that are left to the user before the first run. */
  readonly needs: readonly string[];
}

async function writeCommented(path: string, out: string | undefined): Promise<Written> {
  await writeNewFiles([{ path, text: initialJobFile(out) }]);
  return { written: [path], needs: ["# fill in the service and the ids, then:", exportKey] };
}

const exportKey = "export KNOWLEDGE_API_KEY=…";

async function askAndWrite(
  path: string,
  { baseUrl, allowHttp, dataset, document, format, out }: Arguments<typeof options>,
  environment: Environment,
): Promise<Written> {
  const { env, signal } = environment;
  if (await stat(path).catch(() => undefined)) throw existingFile(path);
  const { askJob, noDialogue, renderAskedJob } = await import("./init/ask.js"); // slow to load; --help does not need it
  const dialogue = (await dialogueFrom(environment, "No job file was written.")) ?? noDialogue;
  const formats = (format ?? []).flatMap((names) => names.split(","));
  const given = { baseUrl, allowHttp: allowHttp ?? false, datasets: dataset ?? [], documents: document ?? [], formats };
  const keyFile = path.replace(/(\.[^./]*)?$/, ".key");
  const { job, keyToSave } = await askJob(given, keyFile, dialogue, { env, signal });
  const file = { path, text: renderAskedJob(job, nameFor(path), out) };
  const files = keyToSave === undefined ? [file] : [file, { path: keyFile, text: `${keyToSave}\n`, isSecret: true }];
  await writeNewFiles(files);
  const isMissing = keyToSave === undefined && env.KNOWLEDGE_API_KEY === undefined;
  return { written: files.map((each) => each.path), needs: isMissing ? [exportKey] : [] };
}

/** A name for the job, made from the file name; undefined if the file name itself can be the job name. */
function nameFor(path: string): string | undefined {
  const name = basename(path).replace(/\.[^.]*$/, "");
  if (isJobName(name)) return undefined;
  const near = name
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, "-")
    .replace(/^[-_]+|-+$/g, "")
    .slice(0, 50);
  return isJobName(near) ? near : "export";
}

function renderNext({ written, needs }: Written, path: string, page: Page): string {
  const [, keyFile] = written;
  const file = shellText(path);
  return renderParagraphs(
    [
      [`Wrote ${written.join(" and ")}.`, keyFile && `Keep ${keyFile} secret and out of version control.`],
      [commandsBelow("Next:", ...needs, `kbdump plan ${file}`, `kbdump run ${file}`)],
    ],
    page,
  );
}

/** The result of `kbdump init --json`. */
const initResult = result({
  status: v.literal("complete"),
  path: text,
  files: v.pipe(listOf(text), v.description("the job file, and the file of the key if there is one")),
});

type InitResult = v.InferOutput<typeof initResult>;

/** A file to write. If it holds the key, only its owner can read it. */
interface NewFile {
  readonly path: string;
  readonly text: string;
  readonly isSecret?: boolean;
}

/** Writes all files or none. They must not exist yet. Throws UsageError naming the file that cannot be written. */
async function writeNewFiles(files: readonly NewFile[]): Promise<void> {
  const written: string[] = [];
  for (const { path, text, isSecret } of files) {
    try {
      await writeFile(path, text, { flag: "wx", mode: isSecret ? 0o600 : 0o666 });
      written.push(path);
    } catch (error) {
      await Promise.all(written.map((each) => rm(each, { force: true })));
      throw unwritten(path, error);
    }
  }
}

function unwritten(path: string, error: unknown): UsageError {
  const code = error instanceof Error && "code" in error ? error.code : "";
  if (code === "EEXIST") return existingFile(path);
  return refusal(
    path,
    code === "ENOENT" ? "the folder does not exist; make it first" : `cannot be written: ${problemText(error)}`,
  );
}

/** The error for a file that already exists. */
function existingFile(path: string): UsageError {
  return refusal(path, "exists already; name another file, as in kbdump init nightly.yaml");
}

function refusal(path: string, message: string): UsageError {
  return new UsageError(`${path}: ${message}`, [{ path, message }], []);
}

/** The job file that `kbdump init` writes. It works once its variables are set, and lists the other options. `out`: the output folder. */
export function initialJobFile(out?: string): string {
  const dir = padEnd(out === undefined ? "output" : JSON.stringify(out), 32);
  return `# A job of kbdump: what to read from a knowledge service, and where to put it.
#
#   export KNOWLEDGE_API_KEY=…          # the key; it is never in this file
#   export KNOWLEDGE_BASE_URL=…         # such as https://kb.example.com/v1
#   export KNOWLEDGE_DATASET_ID=…       # a UUID, from the address of the dataset's page
#   kbdump run this-file.yaml
#
# \${NAME} is filled in from the environment; inside [ ], put it in quotes. You can also write values directly.
# Paths are relative to the folder in which you start kbdump.

# name: nightly                         # a-z, 0-9, _ and -; default: the name of this file

service:
  base_url: \${KNOWLEDGE_BASE_URL}       # including the version segment, /v1
  # demo: true                          # instead of base_url: the embedded service with sample data
  api_key_env: KNOWLEDGE_API_KEY        # the variable with the key (this is the default)
  # api_key_file: ~/kbdump.key          # instead of api_key_env: a file with the key
  # api_key_command: [pass, show, kb]   # instead of api_key_env: a program that prints the key
  concurrency: 8                        # maximum concurrent requests, 1 to 64
  # max_rps: 50                         # maximum requests per second
  timeout: 60                           # seconds for one request
  retries: 6                            # retries per request, 0 to 20
  # outage: 300                         # seconds that the service may be down during a run
  # max_body: 64                        # maximum MB of one answer
  # max_original: 2000                  # maximum MB of one original file
  # ca_file: ./ca.pem                   # the authority behind the certificate of the service
  # allow_http: true                    # plain http to another host: shows the key to the network

# datasets: all                         # instead of the list: every document of every dataset
datasets:
  - id: \${KNOWLEDGE_DATASET_ID}
    documents: all                      # or a list of UUIDs, from the addresses of the documents' pages
    # batches: ["20250306120000123456"] # in quotes: also records their indexing status
    # status: [completed]               # only chunks of these statuses
    # keyword: text                     # only chunks that contain this text

child_chunks: all                       # all; auto: only the child lists that a sample calls for; none
consistency: anchored                   # anchored: read pages of chunks once if that proves them complete; sweeps: always twice; counts: may lose rows
details: auto                           # also settings of datasets, and details of edited documents; true: of all, as copy needs; false: none
originals: false                        # true: also the files that the documents were made from, and attachments of chunks
resume_within: 48                       # hours within which an interrupted run is resumed

output:
  dir: ${dir} # or s3://bucket/prefix
  # work_dir: /var/lib/kbdump           # with s3://…: the local folder for work in progress
  formats: [jsonl, duckdb]              # of ${fileFormats.join(", ")}, duckdb
  # keep: {last: 14}                    # runs to keep: last, daily, weekly, monthly; absent: all
  keep_signatures: false                # true: keep the signatures in links to files
  # compress: gzip                      # none, gzip or zstd: JSONL and CSV files as .jsonl.gz, .csv.zst
  # partition: dataset                  # chunks and child chunks in one folder per dataset, for Spark, Trino and DuckLake
  # csv_safe: true                      # guard CSV cells that a spreadsheet would run; no longer lossless
  # metrics_file: /var/lib/node_exporter/textfile/kbdump_nightly.prom   # metrics for node_exporter
  # memory: 500MB                       # memory limit of DuckDB

# notify:                               # URLs to notify of a run with a POST; they are secrets
  # url: \${NOTIFY_URL}                 # https://hc-ping.com/your-uuid: used instead of those below, with /start and /fail
  # start: https://example.com/started  # instead of url, when a run starts
  # success: https://example.com/done   # when it is complete
  # partial: https://example.com/bad    # when it is partial; default: the same as failure
  # failure: https://example.com/bad    # when it failed
  # style: json                         # json, which also works for Slack; teams: an Adaptive Card
`;
}
