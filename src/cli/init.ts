import { stat } from "node:fs/promises";
import { exitCodes, UsageError } from "../errors.js";
import { renderAskedJob } from "../init/asked-job.js";
import { initialJobFile } from "../init/commented-job.js";
import { writeNewFiles } from "../init/write-job.js";
import { jsonLine } from "../terminal/text.js";
import { type ArgumentsOf, defineCommand } from "./command.js";
import { formatOption } from "./options.js";
import { printResult } from "./print-result.js";
import type { World } from "./world.js";

const epilog = `Examples:
  kbdump init nightly.yaml
  kbdump init nightly.yaml --ask
  kbdump init nightly.yaml --ask --base-url https://kb.example.com/v1 --dataset Handbook --format csv

Exit codes: 0 written · 1 the service cannot be reached, or refuses the key · 2 the file exists or cannot be written`;

const options = {
  json: { type: "boolean", default: false, describe: "print the result as one JSON object" },
  ask: { type: "boolean", default: false, describe: "ask for service, key, datasets and documents, and try the key" },
  "base-url": {
    type: "string",

    describe: "with --ask: the service, such as https://kb.example.com/v1",
  },
  dataset: {
    type: "string",
    array: true,
    nargs: 1,

    describe: "with --ask: id or name of a dataset, or all; repeatable",
  },
  document: {
    type: "string",
    array: true,
    nargs: 1,

    describe: "with --ask: id or name of a document, or all (default); repeatable",
  },
  ...formatOption,
} as const;

/** `kbdump init [path]`: a job file to start from. */
export const initCommand = defineCommand({
  name: "init [path]",
  about: "write a job file to start from; --ask asks you and the service for what belongs in it",
  positionals: { path: { type: "string", default: "job.yaml", describe: "file to write; it must not exist" } },
  options,
  epilog,
  async run(args, world) {
    const { path, json, ask } = args;
    if (!ask) refuseAnswers(args);
    const done = ask ? await askAndWrite(path, args, world) : await writeCommented(path);
    const text = json ? jsonLine({ status: "written", path, files: done.written }) : renderNext(done, path);
    await printResult(world, text);
    return exitCodes.complete;
  },
});

/** Flags that answer questions say nothing where none is asked. */
function refuseAnswers({ baseUrl, dataset, document, format }: ArgumentsOf<typeof options>): void {
  const answers = Object.entries({
    "--base-url": baseUrl,
    "--dataset": dataset,
    "--document": document,
    "--format": format,
  });
  const problems = answers
    .filter(([, value]) => value !== undefined)
    .map(([path]) => ({ path, message: "needs --ask" }));
  if (problems.length > 0) throw new UsageError("No job file was written:", problems);
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
  { baseUrl, dataset, document, format }: ArgumentsOf<typeof options>,
  { env, signal, openTerminal }: World,
): Promise<Written> {
  if (await stat(path).catch(() => undefined))
    throw new UsageError("No job file was written:", [{ path, message: "it exists already; name another file" }]);
  const { askJob } = await import("../init/ask-job.js"); // heavy; --help does without
  const { noDialogue } = await import("../init/no-dialogue.js");
  const terminal = openTerminal?.();
  const dialogue = terminal ? (await import("../init/dialogue.js")).openDialogue(terminal, signal) : noDialogue;
  const formats = (format ?? []).flatMap((names) => names.split(","));
  const given = { baseUrl, datasets: dataset ?? [], documents: document ?? [], formats };
  const keyFile = path.replace(/(\.[^./]*)?$/, ".key");
  const { job, keyToSave } = await askJob(given, keyFile, dialogue, { env, signal });
  const file = { path, text: renderAskedJob(job) };
  const files = keyToSave === undefined ? [file] : [file, { path: keyFile, text: `${keyToSave}\n`, isSecret: true }];
  await writeNewFiles(files);
  const isMissing = keyToSave === undefined && env.KNOWLEDGE_API_KEY === undefined;
  return { written: files.map((each) => each.path), needs: isMissing ? [exportKey] : [] };
}

function renderNext({ written, needs }: Written, path: string): string {
  const [, keyFile] = written;
  const commands = [...needs, `kbdump plan ${path}`, `kbdump run ${path}`];
  return [
    `Wrote ${written.join(" and ")}.`,
    ...(keyFile === undefined ? [] : [`Keep ${keyFile} secret and out of version control.`]),
    "",
    "Next:",
    ...commands.map((command) => `  ${command}`),
  ].join("\n");
}
