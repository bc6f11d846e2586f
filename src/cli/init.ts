import { stat } from "node:fs/promises";
import { basename } from "node:path";
import type { Dialogue, Terminal } from "../dialogue/dialogue.js";
import { exitCodes } from "../errors.js";
import { renderAskedJob } from "../init/asked-job.js";
import { initialJobFile } from "../init/commented-job.js";
import { existingFile, writeNewFiles } from "../init/write-job.js";
import { isJobName } from "../job/job.js";
import type { InitResult } from "../results/init.js";
import { shellText } from "../shell-text.js";
import { wrapToWidth } from "../terminal/display-width.js";
import { jsonLine, pageFor } from "../terminal/text.js";
import { type ArgumentsOf, defineCommand, type Options } from "./command.js";
import { wrongLine } from "./line/wrong-line.js";
import { environmentOption, formatOption } from "./options.js";
import { printResult } from "./print-result.js";
import type { World } from "./world.js";

const epilog = `Examples:
  kbdump init nightly.yaml
  kbdump init nightly.yaml --ask
  kbdump init nightly.yaml --ask --base-url https://kb.example.com/v1 --dataset Handbook

Exit codes: 0 written · 1 the service cannot be reached, or refuses the key · 2 the file exists or cannot be written`;

const options = {
  json: { type: "boolean", default: false, describe: "print the result as one JSON object, the last line of stdout" },
  ask: { type: "boolean", default: false, describe: "ask for service, key, datasets and documents, and try the key" },
  "base-url": { type: "string", describe: "with --ask: the service, such as https://kb.example.com/v1" },
  dataset: { type: "string", array: true, describe: "with --ask: id or name of a dataset, or all; repeatable" },
  document: {
    type: "string",
    array: true,
    describe: "with --ask: id or name of a document, or all (default); repeatable",
  },
  ...formatOption,
  "allow-http": {
    type: "boolean",
    describe: "with --ask: allow plain http to another host, which shows the key to the network",
  },
  ...environmentOption,
} as const satisfies Options;

/** `kbdump init [path]`: a job file to start from. */
export const initCommand = defineCommand({
  name: "init [path]",
  about: "write a job file: with a comment on every option, or with --ask from your answers",
  positionals: {
    path: { type: "string", default: "job.yaml", names: "file", describe: "file to write; default: job.yaml" },
  },
  options,
  epilog,
  async run(args, world) {
    const { path, json, ask } = args;
    if (!ask) refuseAnswers(args);
    const done = ask ? await askAndWrite(path, args, world) : await writeCommented(path);
    const text = json
      ? jsonLine(resultOf(path, done))
      : renderNext(done, path, pageFor(world.stdout, world.env).columns);
    await printResult(world, text);
    return exitCodes.complete;
  },
});

/** Flags that answer questions say nothing where none is asked. */
function refuseAnswers({ baseUrl, dataset, document, format, allowHttp }: ArgumentsOf<typeof options>): void {
  const answers = Object.entries({
    "--base-url": baseUrl,
    "--dataset": dataset,
    "--document": document,
    "--format": format,
    "--allow-http": allowHttp,
  });
  const given = answers.filter(([, value]) => value !== undefined);
  if (given.length > 0) throw wrongLine(given.map(([path]) => ({ path, message: "needs --ask" })));
}

function resultOf(path: string, { written }: Written): InitResult {
  return { status: "complete", path, files: written };
}

/** The outcome of `init`. */
interface Written {
  /** The job file, and after it the file of the key if there is one. */
  readonly written: readonly string[];
  /** Steps before the first run. */
  readonly needs: readonly string[];
}

async function writeCommented(path: string): Promise<Written> {
  await writeNewFiles([{ path, text: initialJobFile() }]);
  return { written: [path], needs: ["# fill in the service and the ids, then:", exportKey] };
}

const exportKey = "export KNOWLEDGE_API_KEY=…";

async function askAndWrite(
  path: string,
  { baseUrl, allowHttp, dataset, document, format }: ArgumentsOf<typeof options>,
  { env, signal, openTerminal }: World,
): Promise<Written> {
  if (await stat(path).catch(() => undefined)) throw existingFile(path);
  const { askJob } = await import("../init/ask-job.js"); // heavy; --help does without
  const { noDialogue } = await import("../init/no-dialogue.js");
  const terminal = openTerminal?.();
  const dialogue = terminal ? await dialogueAt(terminal, signal) : noDialogue;
  const formats = (format ?? []).flatMap((names) => names.split(","));
  const given = { baseUrl, allowHttp: allowHttp ?? false, datasets: dataset ?? [], documents: document ?? [], formats };
  const keyFile = path.replace(/(\.[^./]*)?$/, ".key");
  const { job, keyToSave } = await askJob(given, keyFile, dialogue, { env, signal });
  const file = { path, text: renderAskedJob(job, nameFor(path)) };
  const files = keyToSave === undefined ? [file] : [file, { path: keyFile, text: `${keyToSave}\n`, isSecret: true }];
  await writeNewFiles(files);
  const isMissing = keyToSave === undefined && env.KNOWLEDGE_API_KEY === undefined;
  return { written: files.map((each) => each.path), needs: isMissing ? [exportKey] : [] };
}

async function dialogueAt(terminal: Terminal, signal: AbortSignal): Promise<Dialogue> {
  const { openDialogue } = await import("../dialogue/dialogue.js");
  return openDialogue(terminal, signal, "No job file was written.");
}

/** A name for a job whose file has none that can be one; undefined where it has. */
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

function renderNext({ written, needs }: Written, path: string, columns: number): string {
  const [, keyFile] = written;
  const file = shellText(path);
  const commands = [...needs, `kbdump plan ${file}`, `kbdump run ${file}`];
  return [
    ...wrapToWidth(`Wrote ${written.join(" and ")}.`, columns),
    ...(keyFile === undefined ? [] : wrapToWidth(`Keep ${keyFile} secret and out of version control.`, columns)),
    "",
    "Next:",
    ...commands.map((command) => `  ${command}`),
  ].join("\n");
}
