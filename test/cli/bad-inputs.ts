const id = "7f0c2b1a-5d3e-4c6f-8a9b-0c1d2e3f4a5b";
const other = "a8e0d1c2-b3a4-4958-8677-665544332211";
const url = "https://kb.example.com/v1";
const key = "dataset-0123456789abcdefghij";
const source = `service: {base_url: ${url}}`;
const datasets = `datasets: [{id: ${id}, documents: [${other}]}]`;
const good = `${source}\n${datasets}\n`;
const flags = `--base-url ${url} --dataset ${id} --document ${other}`;

/** A wrong command line and the error it should cause. */
export interface BadInput {
  /**
   * Arguments, separated by blanks. `@` stands for the folder with the files; SERVICE_URL and SERVICE_PORT for the demo
   * service.
   */
  readonly line: string;
  readonly files?: Readonly<Record<string, string>>;
  /** Additional environment variables. SERVICE_URL and SERVICE_PORT are replaced here too. */
  readonly env?: Readonly<Record<string, string>>;
  /** Puts a run of a demo document with manual child chunks into `@/run` and changes its manifest with this function. */
  readonly run?: (manifest: string) => string;
  /** The expected exit code; 2 (usage) by default. */
  readonly code?: number;
  /** The text that stderr must contain. If it ends with a line feed, stderr must end with it. */
  readonly says: string;
}

/** A key that no message may print. */
export const secretKey = key;

const withJob = (text: string) => ({ files: { "job.yaml": text } });

const commandLines: readonly BadInput[] = [
  { line: "runn", says: "kbdump: unknown command runn; did you mean run?\n" },
  { line: "stauts", says: "kbdump: unknown command stauts; did you mean status?\n" },
  { line: "RUN", says: "kbdump: unknown command RUN; did you mean run?\n" },
  { line: "version", says: "kbdump: unknown command version; did you mean kbdump --version?\n" },
  { line: "@/job.yaml", says: '/job.yaml"; did you mean kbdump run "' },
  { line: "frobnicate", says: "kbdump: unknown command frobnicate; expected one of completion, copy, demo, " },
  { line: "help frobnicate", says: "kbdump: unknown command frobnicate; expected one of completion, " },
  { line: "--quiet", says: "kbdump: no command; expected one of completion, copy, " },
  { line: "--frobnicate", says: "kbdump: no command; expected one of completion, copy, " },
  { line: key, says: "kbdump: unknown command a value that is not shown; expected one of " },
  { line: "run --base-ulr x", says: "kbdump: unknown flag --base-ulr; did you mean --base-url?\n" },
  { line: "run --baseUrl x", says: "kbdump: unknown flag --baseUrl; did you mean --base-url?\n" },
  {
    line: "run --concurency 3 --documnet x --frobnicate",
    says: "kbdump: 3 problems with the command line:\n  unknown flag --concurency; did you mean --concurrency?\n  unknown flag --documnet; did you mean --document?\n  unknown flag --frobnicate; kbdump run --help lists the flags\n",
  },
  { line: "run -x", says: "kbdump: unknown flag -x; kbdump run --help lists the flags\n" },
  { line: "run -json", says: "kbdump: unknown flag -json; did you mean --json?\n" },
  {
    line: `run --api-key ${key}`,
    says: "kbdump: unknown flag --api-key; the key is never on the command line: put it in ",
  },
  {
    line: `run --token=${key}`,
    says: "kbdump: unknown flag --token; the key is never on the command line: put it in ",
  },
  { line: `run -${key}`, says: "kbdump: unknown flag a value that is not shown; did you mean --dataset?\n" },
  { line: `run ${key}`, says: "kbdump: job file (a name that is not shown, as it looks like a key) does not exist\n" },
  { line: "run --out", says: "kbdump: --out: expected a value: output folder, or s3://bucket/prefix\n" },
  { line: "run -o --json", says: "kbdump: --out: expected a value: output folder, or s3://bucket/prefix\n" },
  {
    line: "run --base-url",
    says: "kbdump: --base-url: expected a value: the service, such as https://",
  },
  { line: "run --log-format", says: "kbdump: --log-format: got nothing, expected text or json\n" },
  { line: "run --log-format xml", says: 'kbdump: --log-format: got "xml", expected text or json\n' },
  { line: "run --json=maybe", says: 'kbdump: --json: got "maybe", expected true or false\n' },
  { line: "run --out a --out b", says: "kbdump: --out: given more than once\n" },
  { line: "run --out a -o b --log-format json --log-format text", says: "  --log-format: given more than once\n" },
  { line: "run --fresh --retry-failed", says: "kbdump: --fresh: not together with --retry-failed\n" },
  { line: "run a.yaml b.yaml", says: 'kbdump: unexpected argument "b.yaml"; expected kbdump run [job]\n' },
  { line: "run --format csv parquet", says: "kbdump: --format: write --format csv,parquet\n" },
  { line: "run --format csv parquet @/job.yaml", says: "kbdump: --format: write --format csv,parquet\n" },
  { line: `run --document ${id} ${other}`, says: `kbdump: --document: write --document ${id},${other}\n` },
  {
    line: "run --env-file @/nothing.env @/job.yaml",
    says: 'the environment file "@/nothing.env": there is no such file\n',
  },
  { line: "run --env-file @ @/job.yaml", says: 'kbdump: cannot read the environment file "@": it is a folder\n' },
  { line: "run --env-file= @/job.yaml", says: 'kbdump: cannot read the environment file "": there is no such file\n' },
];

const flagValues: readonly BadInput[] = [
  { line: `run ${flags} --concurrency abc`, says: '--concurrency: got "abc", expected a whole number from 1 to 64\n' },
  { line: `run ${flags} --concurrency 0`, says: "--concurrency: got 0, expected a whole number from 1 to 64\n" },
  { line: `run ${flags} --concurrency 1.5`, says: "--concurrency: got 1.5, expected a whole number from 1 to 64\n" },
  { line: `run ${flags} --concurrency=`, says: '--concurrency: got "", expected a whole number from 1 to 64\n' },
  { line: `run ${flags} --max-rps -1`, says: '--max-rps: got "-1", expected a number above 0, at most 10000\n' },
  { line: `run ${flags} --max-rps Infinity`, says: '--max-rps: got "Infinity", expected a number above 0, at most' },
  { line: `run ${flags} --format xml`, says: '--format: got "xml", expected jsonl, csv, parquet or duckdb\n' },
  { line: `run ${flags} --format csv,`, says: '--format: got "", expected jsonl, csv, parquet or duckdb\n' },
  {
    line: `run ${flags} --format csv,csv`,
    says: '--format: got "csv", expected each format once; formats[0] is the same\n',
  },
  ...["0/4", "5/4", "1/0", "a/b", "3"].map((shard) => ({
    line: `run ${flags} --shard ${shard}`,
    says: `kbdump: --shard: got "${shard}", expected such as 3/16, the third of 16 shards, or auto/16 in a pod of an Indexed Job; at most 10000 shards\n`,
  })),
  {
    line: `run ${flags} --shard auto/4`,
    says: "kbdump: --shard: auto takes the index from JOB_COMPLETION_INDEX, which Kubernetes sets in the pods of an Indexed Job: it is not set, expected 0 to 3\n",
  },
  {
    line: `run ${flags} --shard auto/4`,
    env: { JOB_COMPLETION_INDEX: "4" },
    says: 'an Indexed Job: it is "4", expected 0 to 3\n',
  },
  {
    line: `run ${flags} --documents-from @/list.json --out @/out`,
    says: 'kbdump: cannot read the list of documents "@/list.json": there is no such file\n',
  },
  {
    line: `run ${flags} --documents-from @/list.json --out @/out`,
    files: { "list.json": "{}" },
    says: 'kbdump: the list of documents "@/list.json" cannot be used:\n  format: got nothing, expected 1\n  ',
  },
  { line: `plan ${flags} --documents-out=`, says: 'kbdump: --documents-out: got "", expected the path of a file\n' },
  { line: `run ${flags} --child-chunks some`, says: '--child-chunks: got "some", expected all, auto or none\n' },
  {
    line: `run ${flags} --consistency strict`,
    says: '--consistency: got "strict", expected anchored, sweeps or counts\n',
  },
  {
    line: `run ${flags} --out=`,
    says: '--out: got "", expected the path of a folder, without a question mark in it\n',
  },
  { line: `run ${flags} --name Nightly`, says: '--name: got "Nightly", expected a name of a-z, 0-9, _ and - that ' },
  {
    line: `run --base-url nowhere --dataset ${id} --document all`,
    says: '--base-url: got "nowhere", expected an http or https URL',
  },
  {
    line: `run --base-url http://10.0.0.5/v1 --dataset ${id} --document all`,
    says: "; allow_http: true or --allow-http permits it\n",
  },
  {
    line: `run --base-url https://u:p@x/v1 --dataset ${id} --document all`,
    says: "--base-url: got a value that is not shown, expected ",
  },
  {
    line: `run --base-url ${url}`,
    says: "  --dataset: got nothing, expected a UUID, 8-4-4-4-12 hexadecimal digits\n  --document: got nothing, expected at least one",
  },
  {
    line: `run --base-url ${url} --dataset 7`,
    says: '  --dataset: got "7", expected a UUID, 8-4-4-4-12 hexadecimal digits\n  --document: got nothing, expected ',
  },
  { line: `run --dataset ${id} --document all`, says: "--base-url: got nothing, expected an http or https URL" },
  {
    line: `run --base-url ${url} --dataset ${id}`,
    says: "--document: got nothing, expected at least one document or batch, ",
  },
  {
    line: `run --base-url ${url} --dataset ${id} --document x,${other}`,
    says: '--document: got "x", expected a UUID, 8-4-4-4-12 ',
  },
  {
    line: `run --base-url ${url} --dataset all --document ${id}`,
    says: "--document: not together with --dataset all, ",
  },
  {
    line: `run --base-url ${url} --dataset ${id} --batch ..`,
    says: '--batch: got "..", expected a batch id: text that is not empty',
  },
  {
    line: "status @/job.yaml --interval 5s",
    ...withJob(good),
    says: "kbdump: --interval: only together with --watch\n",
  },
  {
    line: "status @/job.yaml --watch --timeout soon",
    ...withJob(good),
    says: '--timeout: got "soon", expected seconds, or a time',
  },
  {
    line: "status @/job.yaml",
    ...withJob(good),
    says: "kbdump: the job names no batch: set datasets[0].batches, or give --batch; ",
  },
];

const jobFiles: readonly BadInput[] = [
  { line: "run @/nightly.yaml", says: "kbdump: job file @/nightly.yaml does not exist\n" },
  { line: "run @/nightly.yaml", files: { "nightly.yml": good }, says: "does not exist; did you mean @/nightly.yml?\n" },
  {
    line: "run @/nigthly.yaml",
    files: { "jobs/nightly.yaml": good },
    says: "does not exist; did you mean @/jobs/nightly.yaml?\n",
  },
  { line: "run @", ...withJob(good), says: "kbdump: job file @ is a folder; did you mean @/job.yaml?\n" },
  {
    line: "prune",
    says: "kbdump: <job> is missing: job file, or the name of a job that has run. Example: kbdump prune nightly.yaml --dry-run\n",
  },
  {
    line: `run @/job.yaml ${flags}`,
    ...withJob(good),
    says: "  --dataset: only without a job file; set datasets[0].id in the file\n  --document: only without a job file; ",
  },
  {
    line: "run @/job.yaml",
    ...withJob(""),
    says: "  datasets: got nothing, expected a list of datasets, or the word all\n",
  },
  {
    line: "run @/job.yaml",
    ...withJob("just a text"),
    says: '  got "just a text", expected a mapping with service, datasets and output\n',
  },
  {
    line: "run @/job.yaml",
    ...withJob("- a\n- b\n"),
    says: "  got a list, expected a mapping with service, datasets and output\n",
  },
  {
    line: "run @/job.yaml",
    ...withJob("service: {base_url: x\n"),
    says: "is not valid YAML or JSON:\n  line ",
  },
  {
    line: "run @/job.yaml",
    ...withJob("service:\n\tbase_url: x\n"),
    says: "is not valid YAML or JSON:\n  line 2, ",
  },
  {
    line: "run @/job.yaml",
    ...withJob("a: 1\na: 2\n"),
    says: "is not valid YAML or JSON:\n  line 2, column 1: ",
  },
  {
    line: "run @/job.yaml",
    ...withJob("---\na: 1\n---\nb: 2\n"),
    says: "is not valid YAML or JSON:\n  line ",
  },
  { line: "run @/job.yaml", ...withJob("a: *nowhere\n"), says: "is not valid YAML or JSON:\n  " },
  { line: "run @/job.yaml", ...withJob(`service: {base_url: \${KB}}\n`), says: 'NAME}" in quotes\n' },
  {
    line: "run @/job.yaml",
    ...withJob(`service:\n  base_url: \${KB_URL}\n${datasets}\n`),
    says: "  service.base_url: KB_URL is not set in the environment\n",
  },
  {
    line: "run @/job.yaml",
    ...withJob(`service:\n  base_url: \${KB_URL\n${datasets}\n`),
    says: "expected a name and } after ${",
  },
  {
    line: "run @/job.yaml",
    ...withJob(`service: {base_url: ${url}, api_key: ${key}}\n${datasets}\n`),
    says: "  service.api_key: the key itself is never in the file",
  },
  {
    line: "run @/job.yaml",
    ...withJob(`service: {base_url: ${url}, api_key_env: ${key}}\n${datasets}\n`),
    says: "  service.api_key_env: got a value that is not shown, ",
  },
  { line: "run @/job.yaml", ...withJob(`servce: {}\n${good}`), says: "  servce: unknown key; did you mean service?\n" },
  {
    line: "run @/job.yaml",
    ...withJob(`${good}output: {format: [csv]}\n`),
    says: "  output.format: unknown key; did you mean formats?\n",
  },
  {
    line: "run @/job.yaml",
    ...withJob(`${good}output: {formats: csv}\n`),
    says: '  output.formats: got "csv", expected a list of jsonl, ',
  },
  {
    line: "run @/job.yaml",
    ...withJob(`${good}output: {formats: []}\n`),
    says: "  output.formats: got [], expected at least one of jsonl, ",
  },
  {
    line: "run @/job.yaml",
    ...withJob(`${good}output: {keep: 14}\n`),
    says: "  output.keep: got 14, expected a mapping such as {last: 14}\n",
  },
  {
    line: "run @/job.yaml",
    ...withJob(`${good}output: {keep: {}}\n`),
    says: "  output.keep: got {}, expected at least one of last, daily, ",
  },
  {
    line: "run @/job.yaml",
    ...withJob(`${good}output: {memory: 2}\n`),
    says: "  output.memory: got 2, expected a size such as 800MB or 2GB\n",
  },
  { line: "run @/job.yaml", ...withJob(`${good}name: Über\n`), says: '  name: got "Über", expected a name of a-z, ' },
  {
    line: "run @/Nightly.yaml",
    files: { "Nightly.yaml": good },
    says: "  name (taken from the file's name; set name to choose another): ",
  },
  {
    line: "run @/job.yaml",
    ...withJob(`${good}child_chunks: yes\n`),
    says: '  child_chunks: got "yes", expected all, auto or none\n',
  },
  {
    line: "run @/job.yaml",
    ...withJob(`${good}resume_within: -1\n`),
    says: "  resume_within: got -1, expected a number of hours above 0",
  },
  {
    line: "run @/job.yaml",
    ...withJob(`service: {base_url: ${url}, concurrency: "8"}\n${datasets}\n`),
    says: '  service.concurrency: got "8", expected a whole number ',
  },
  {
    line: "run @/job.yaml",
    ...withJob(`service: {base_url: ${url}, timeout: 0}\n${datasets}\n`),
    says: "  service.timeout: got 0, expected a number of seconds above 0",
  },
  {
    line: "run @/job.yaml",
    ...withJob(`service: {demo: true, base_url: ${url}}\n${datasets}\n`),
    says: "  service.base_url: got ",
  },
  {
    line: "run @/job.yaml",
    ...withJob(`${source}\ndatasets: []\n`),
    says: "  datasets: got [], expected at least one dataset\n",
  },
  {
    line: "run @/job.yaml",
    ...withJob(`${source}\ndatasets: [{id: ${id}}]\n`),
    says: "  datasets[0].documents: got nothing, expected at least one ",
  },
  {
    line: "run @/job.yaml",
    ...withJob(`${source}\ndatasets: [{id: 7, documents: all}]\n`),
    says: "  datasets[0].id: got 7, expected a UUID, ",
  },
  {
    line: "run @/job.yaml",
    ...withJob(`${source}\ndatasets: [{id: ${id}, batches: [20250306120000123456]}]\n`),
    says: "expected the batch id in quotes, ",
  },
  {
    line: "run @/job.yaml",
    ...withJob(`${good}notify: {url: ftp://x}\n`),
    says: "  notify.url: got a value that is not shown, expected ",
  },
  { line: "prune @/job.yaml", ...withJob(good), says: "output.keep" },
  {
    line: "join",
    says: "kbdump: <shards> is missing: a job, to join the newest runs of all its shards; or run folders",
  },
  {
    line: "run @/job.yaml --workers redis://127.0.0.1:6379 --shard 1/2",
    ...withJob(good),
    says: "--workers: not together with --shard",
  },
  {
    line: "run @/job.yaml --workers queue:secret@host",
    ...withJob(good),
    says: "kbdump: --workers: this is not an address of a broker: expected an address such as redis://host:6379, or the name",
  },
  {
    line: "run @/job.yaml --workers NO_BROKER",
    ...withJob(good),
    says: "kbdump: --workers: the variable NO_BROKER is not set. Set it to an address such as redis://host:6379",
  },
  {
    line: "worker @/job.yaml redis://:secret@127.0.0.1:6379",
    says: "kbdump: <broker>: this is not an address of a broker: ",
  },
  {
    line: "worker",
    says: "<broker> is missing: address of the Redis or Valkey with the queue",
  },
  { line: "worker redis://127.0.0.1:6379", says: "<job> is missing: job file of the runs" },
  {
    line: "worker redis://127.0.0.1:6379 @/job.yaml --idle soon --in-flight 65",
    ...withJob(good),
    says: "--in-flight: got 65, expected a whole number from 1 to 64",
  },
  {
    line: "worker redis://127.0.0.1:1 @/job.yaml",
    ...withJob(good),
    code: 1,
    says: "kbdump: the broker redis://127.0.0.1:1 cannot be used: ",
  },
  { line: "join @/nothing", says: "kbdump: No such run or job:\n  @/nothing: there is no such file or folder\n" },
  { line: "join @/job.yaml", ...withJob(good), says: "kbdump: No shards to join:\n  @/job.yaml: " },
];

const keys: readonly BadInput[] = [
  {
    line: "run @/job.yaml -o @/out",
    ...withJob(good),
    says: "kbdump: no key: the variable KNOWLEDGE_API_KEY is not set. ",
  },
  {
    line: "run @/job.yaml -o @/out",
    ...withJob(good),
    env: { KNOWLEDGE_API_KEY: " " },
    says: "kbdump: no key: the variable KNOWLEDGE_API_KEY is empty. ",
  },
  {
    line: "run @/job.yaml -o @/out",
    ...withJob(good),
    env: { KNOWLEDGE_API_KEY: `Bearer ${key}` },
    says: 'without "Bearer"',
  },
  {
    line: "run @/job.yaml -o @/out",
    ...withJob(`service: {base_url: ${url}, api_key_file: @/key}\n${datasets}\n`),
    says: "cannot read the key file ",
  },
  {
    line: "run @/job.yaml -o @/out",
    ...withJob(`service: {base_url: ${url}, ca_file: @/ca.pem}\n${datasets}\n`),
    env: { KNOWLEDGE_API_KEY: key },
    says: "ca.pem",
  },
  {
    line: `plan --base-url SERVICE_URL --dataset ${id} --document ${other}`,
    env: { KNOWLEDGE_API_KEY: key },
    code: 1,
    says: "401 unauthorized",
  },
];

const folders: readonly BadInput[] = [
  {
    line: "verify",
    says: "kbdump: <run> is missing: run folder, or a job (its newest complete run), or a job and a run, as in nightly@20261119. Example: kbdump verify nightly\n",
  },
  { line: "verify @/nothing", says: "kbdump: No such run or job:\n  @/nothing: there is no such file or folder\n" },
  {
    line: "verify @",
    says: "kbdump: Not a finished run folder:\n  @: no manifest.json in it, which a run writes last\n",
  },
  {
    line: "verify @/job.yaml",
    ...withJob(good),
    says: "@/job.yaml: no run was published in output/job/runs yet\n",
  },
  { line: "verify @", files: { "manifest.json": "{" }, code: 4, says: "" },
  { line: "verify @ --memory lots", says: 'kbdump: --memory: got "lots", expected a size such as 800MB or 2GB\n' },
  {
    line: "verify @ --concurrency 4",
    says: "kbdump: --concurrency: only together with --against\n",
  },
  { line: "verify @ --against kb.example.com", says: 'kbdump: --against: got "kb.example.com", expected ' },
  { line: "verify a b", says: 'kbdump: unexpected argument "b"; expected kbdump verify <run>\n' },
  {
    line: "verify a --duckdb b",
    says: 'kbdump: unexpected argument "b"; a value of --duckdb follows =, as in --duckdb=PATH\n',
  },
  { line: "diff", says: "kbdump: <old> is missing: folder of the older run, or a job. Example: kbdump diff nightly\n" },
  {
    line: "diff @",
    says: "kbdump: Not a finished run folder:\n  @: no manifest.json in it, which a run writes last\n",
  },
  { line: "diff @ @", says: "@: no manifest.json in it, which a run writes last\n" },
  { line: "diff a b --only chunks", says: 'kbdump: --only: got "chunks", expected document\n' },
  { line: "diff a b --format xml", says: 'kbdump: --format: got "xml", expected table, json or csv\n' },
  { line: "diff a b --json --format csv", says: "kbdump: --json: not together with --format csv\n" },
  {
    line: "report",
    says: "kbdump: <run> is missing: run folder, or a job (its newest complete run), or a job and a run, as in nightly@20261119. Example: ",
  },
  { line: "report @", says: "@: no manifest.json in it, which a run writes last\n" },
  { line: "report @ --against @/nothing", files: { "manifest.json": "{}" }, says: "there is no such file or folder\n" },
  { line: "report @ --file - --json", says: "kbdump: --json: not together with --file -, which prints the page\n" },
  { line: "report @ --no-contents", says: "kbdump: unknown flag --no-contents; did you mean --no-content?\n" },
  { line: "report @ --memory lots", says: 'kbdump: --memory: got "lots", expected a size such as 800MB or 2GB\n' },
  { line: "report @", files: { "manifest.json": "{" }, code: 1, says: " is not sound, so there is no report:" },
  {
    line: "serve",
    says: "kbdump: nothing to serve: name a run or a job, such as output/nightly/latest, or give --demo\n",
  },
  { line: "serve @ --demo", says: "kbdump: --demo: not together with a run\n" },
  { line: "serve --demo --port x", says: 'kbdump: --port: got "x", expected a whole number from 0 to 65535\n' },
  { line: "serve --demo --port 70000", says: "kbdump: --port: got 70000, expected a whole number from 0 to 65535\n" },
  { line: "serve --demo --port SERVICE_PORT", code: 1, says: "SERVICE_PORT" },
  {
    line: `serve @ --key ${key}`,
    says: "kbdump: --key: only with --demo, as other users see it in the list of processes; use --key-env\n",
  },
  { line: "serve @ --key-env NO_SUCH_KEY", says: "kbdump: no key: the variable NO_SUCH_KEY is not set. " },
  { line: "serve @", says: "@: no manifest.json in it, which a run writes last\n" },
  {
    line: "restore",
    says: "kbdump: <run> is missing: run folder, or a job (its newest complete run), or a job and a run, as in nightly@20261119. Example: ",
  },
  { line: "restore @", says: "@: no manifest.json in it, which a run writes last\n" },
  {
    line: "restore @",
    files: { "manifest.json": "{}" },
    env: { KNOWLEDGE_API_KEY: key },
    says: "kbdump: no key: the variable KNOWLEDGE_RESTORE_KEY is not set; restore and copy need a separate key ",
  },
  {
    line: "restore @ --key-env NO_SUCH_KEY",
    files: { "manifest.json": "{}" },
    says: "kbdump: no key: the variable NO_SUCH_KEY is not set; ",
  },
  {
    line: `restore @ --key-env ${key}`,
    says: "kbdump: --key-env: got a value that is not shown, expected the name of an environment variable that holds ",
  },
  {
    line: "restore @ --apply",
    says: "kbdump: --apply: there is no terminal for the confirmation; look at the plan without --apply first, then add --yes ",
  },
  {
    line: "restore @ --plan-out new.yaml --document x --apply --yes",
    says: 'kbdump: 2 problems with the command line:\n  --document: got "x", expected a UUID, ',
  },
  {
    line: "restore @ --plan a.yaml --manual-edits",
    says: "kbdump: --manual-edits: a plan file decides on every row: say yes to those rows in it, or leave out --plan\n",
  },
  {
    line: "restore @ --plan-out a.yaml --apply --yes",
    says: "kbdump: --plan-out: write the plan first, without --apply\n",
  },
  { line: `restore @ --chunk ${id}`, says: "kbdump: unknown flag --chunk; kbdump restore --help lists the flags\n" },
  { line: "restore @ --add-disabled", says: "kbdump: unknown flag --add-disabled; kbdump restore --help lists " },
  { line: "restore @ --lost", says: "kbdump: unknown flag --lost; kbdump restore --help lists the flags\n" },
  { line: "copy @", says: "kbdump: --to: missing: base URL of the service to copy to\n" },
  { line: `copy @ --to ${url} --chunk ${id}`, says: "kbdump: unknown flag --chunk; kbdump copy --help lists " },
  {
    line: `copy @ --to ${url} --dataset nowhere`,
    says: 'kbdump: --dataset: got "nowhere", expected a UUID, 8-4-4-4-12 hexadecimal digits; or new\n',
  },
  {
    line: "copy @ --to http://10.0.0.5/v1",
    says: 'kbdump: --to: got "http://10.0.0.5/v1", expected https, as http shows the key to the network; ',
  },
  { line: "copy @ --to=", says: 'kbdump: --to: got "", expected an http or https URL such as ' },
  { line: `copy @ --to ${url} --concurrency 65`, says: "kbdump: --concurrency: got 65, expected a whole number " },
  {
    line: `copy @ --to ${url} --apply`,
    says: "kbdump: --apply: there is no terminal for the confirmation; look at the plan without --apply first, then add --yes ",
  },
  { line: `copy @ --to ${url}`, says: "@: no manifest.json in it, which a run writes last\n" },
  {
    line: `copy @ --to ${url}`,
    files: { "manifest.json": "{}" },
    env: { KNOWLEDGE_API_KEY: key },
    says: "kbdump: no key: the variable KNOWLEDGE_RESTORE_KEY is not set; restore and copy need a separate key ",
  },
  {
    line: "restore @ --document Plan,x",
    says: '  --document: got "Plan", expected a UUID, 8-4-4-4-12 hexadecimal digits',
  },
  {
    line: "restore @ --to http://10.0.0.5/v1",
    says: '--to: got "http://10.0.0.5/v1", expected https, as http shows the key to the network; ',
  },
  { line: "restore @ --timeout 0", says: '--timeout: got "0", expected seconds, or a time such as 30s, ' },
  { line: "restore @ --settle 1d", says: '--settle: got "1d", expected seconds, or a time such as 30s, ' },
  { line: "restore @ --aply", says: "kbdump: unknown flag --aply; did you mean --apply?\n" },
  {
    line: "init @/job.yaml",
    ...withJob(good),
    says: "kbdump: @/job.yaml: exists already; name another file, as in kbdump init nightly.yaml\n",
  },
  { line: "init @/nothing/job.yaml", says: "kbdump: @/nothing/job.yaml: the folder does not exist; make it first\n" },
  {
    line: "init @/job.yaml/x",
    ...withJob(good),
    says: "kbdump: @/job.yaml/x: cannot be written: a part of the path is not a folder: @/job.yaml/x\n",
  },
  { line: "completion tcsh", says: 'kbdump: <shell>: got "tcsh"; expected bash or zsh\n' },
  {
    line: "completion",
    env: { SHELL: "/bin/tcsh" },
    says: "kbdump: <shell>: missing, and SHELL in the environment names none of them; expected bash ",
  },
];

const restoreKey = { KNOWLEDGE_RESTORE_KEY: "demo-key" };
const asItIs = (manifest: string) => manifest;
const changed = (from: string, to: string) => (manifest: string) => {
  if (!manifest.includes(from)) throw new Error(`the manifest has no ${from}`);
  return manifest.replace(from, to);
};

/** Restores that are refused after a look at the run or the service. */
const restores: readonly BadInput[] = [
  {
    line: "restore nightly@20260101 --out @",
    env: restoreKey,
    says: "kbdump: No such run or job:\n  nightly@20260101: no file or folder has this name, and no job in ",
  },
  {
    line: "restore @/run",
    run: asItIs,
    env: { KNOWLEDGE_RESTORE_KEY: key },
    code: 1,
    says: "kbdump: the service does not accept the key from the variable KNOWLEDGE_RESTORE_KEY (401 ",
  },
  {
    line: "restore @/run --to http://127.0.0.1:1/v1",
    run: asItIs,
    env: restoreKey,
    code: 1,
    says: "; check that the service runs and that --to is right (GET http://127.0.0.1:1/v1/",
  },
  {
    line: "restore @/run --to http://127.0.0.1:SERVICE_PORT",
    run: asItIs,
    env: restoreKey,
    code: 1,
    says: "kbdump: the server answered with a web page (404 Not Found), not with the Knowledge API; ",
  },
  {
    line: "restore @/run",
    run: changed("http://127.0.0.1:", "http://10.0.0.5:"),
    env: restoreKey,
    says: "expected https, as http shows the key to the network; ",
  },
  {
    line: "restore @/run --apply --yes",
    run: asItIs,
    env: { ...restoreKey, KNOWLEDGE_BASE_URL: url },
    says: `kbdump: It is not clear which service to restore to:\n  --to: the run came from SERVICE_URL, and KNOWLEDGE_BASE_URL names ${url}; name the service to restore to with --to\n`,
  },
  {
    line: "restore @/run",
    run: changed('"child_chunks": "all"', '"child_chunks": "none"'),
    env: restoreKey,
    says: "kbdump: @/run cannot be used for a restore:\n  its run read no child chunks (child_chunks: none)\n",
  },
  {
    line: "restore @/run",
    run: changed('"keyword": null', '"keyword": "valve"'),
    env: restoreKey,
    says: "kbdump: @/run cannot be used for a restore:\n  its run left out chunks: the job has a filter (status, keyword) ",
  },
  {
    line: "restore @/run --apply --yes",
    run: changed('"status": "complete",\n      "total"', '"status": "unstable",\n      "total"'),
    env: restoreKey,
    code: 1,
    says: "kbdump: @/run is not sound, so nothing was restored:\n  manifest.json: status is complete, but document ",
  },
  {
    line: `restore @/run --document ${other}`,
    run: asItIs,
    env: restoreKey,
    says: `kbdump: @/run does not have:\n  document ${other}\n`,
  },
  {
    line: "restore @/run --plan @/nothing.yaml",
    run: asItIs,
    env: restoreKey,
    says: "kbdump: The plan file cannot be used:\n  @/nothing.yaml: there is no such file\n",
  },
  {
    line: "restore @/run --plan @/job.yaml",
    ...withJob(good),
    run: asItIs,
    env: restoreKey,
    says: 'kbdump: The plan file cannot be used:\n  @/job.yaml:1: is no line of a plan file; a row begins with "- {restore: "',
  },
  {
    line: "restore @/run --against @/nothing",
    run: asItIs,
    env: restoreKey,
    says: "kbdump: No such run or job:\n  @/nothing: there is no such file or folder\n",
  },
  {
    line: "restore @/run --apply --yes",
    run: asItIs,
    files: { "run.restore": "" },
    env: restoreKey,
    code: 1,
    says: "kbdump: ",
  },
  {
    line: "restore @/run --memory lots",
    says: 'kbdump: --memory: got "lots", expected a size such as 800MB or ',
  },
  {
    line: "restore @/run --max-rps 0",
    says: "kbdump: --max-rps: got 0, expected a number above 0, at most 10000\n",
  },
  {
    line: "restore @/run --concurrency 65",
    says: "kbdump: --concurrency: got 65, expected a whole number from 1 to 64\n",
  },
];

/** Every kind of wrong input. */
export const badInputs: readonly BadInput[] = [
  ...commandLines,
  ...flagValues,
  ...jobFiles,
  ...keys,
  ...folders,
  ...restores,
];

/** Command lines that depend on the working directory, so each runs in its own process. */
export const badInputsOfFolder: readonly BadInput[] = [
  { line: "run", says: "kbdump: no job file given; kbdump init writes one; without a file, give --base-url, " },
  { line: "run", ...withJob(good), says: "kbdump: no job file given; did you mean kbdump run job.yaml?\n" },
  {
    line: "plan --concurrency abc",
    ...withJob(good),
    says: "kbdump: no job file given; did you mean kbdump plan job.yaml?\n",
  },
  {
    line: "run nightly.yml",
    files: { "nightly.yaml": good },
    says: "kbdump: job file nightly.yml does not exist; did you mean nightly.yaml?\n",
  },
  { line: "run --base-ulr x --json", says: "kbdump: unknown flag --base-ulr; did you mean --base-url?\n" },
  { line: "run job.yaml", ...withJob(good), says: "kbdump: no key: the variable KNOWLEDGE_API_KEY is not set. " },
  {
    line: "run job.yaml --env-file .env",
    files: { "job.yaml": `service:\n  base_url: \${KB_URL}\n${datasets}\n`, ".env": "KB_URL=nowhere\n" },
    says: `service.base_url: got "\${KB_URL}" (filled in from the environment), expected `,
  },
  {
    line: "init",
    ...withJob(good),
    says: "kbdump: job.yaml: exists already; name another file, as in kbdump init nightly.yaml\n",
  },
];
