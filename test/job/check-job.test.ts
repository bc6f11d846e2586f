import { describe, expect, test } from "vitest";
import { checkJob } from "../../src/job/check-job.js";
import { pathText } from "../../src/job/job-findings.js";
import { dataset, document, otherDataset, otherDocument, smallJob } from "./job-folder.js";

const url = "an http or https URL such as https://kb.example.com/v1, without user, password, query or fragment";
const uuid = "a UUID, 8-4-4-4-12 hexadecimal digits";
const secret = "tell-nobody";
const key = `dataset-${"x".repeat(24)}`;

function problemsOf(job: unknown): readonly string[] {
  const { unknownKeys, wrongValues } = checkJob(job, job);
  return [...unknownKeys, ...wrongValues].map(({ path, message }) => `${pathText(path)}: ${message}`);
}

const withService = (service: object) => ({ ...smallJob, service: { ...smallJob.service, ...service } });
const withDataset = (changed: object) => ({
  ...smallJob,
  datasets: [{ id: dataset, documents: [document], ...changed }],
});
const withNotify = (notify: unknown) => ({ ...smallJob, notify });
const withOutput = (output: unknown) => ({ ...smallJob, output });
const demo = { ...smallJob, service: { demo: true } };

const name = "a name of a-z, 0-9, _ and - that starts with a letter or digit, at most 100 characters";
const variable = "the name of an environment variable that holds the key, not the key itself";
const command = "a list of a program and its arguments, as in [pass, show, kbdump]";
const keyFile = "the path of a file that holds the key, not the key itself";
const hidden = "got a value that is not shown";
const batch = "a batch id: text that is not empty, nor . or ..";
const noHttp = "https, as http shows the key to the network; allow_http: true or --allow-http permits it";
const besideDemo = "nothing beside demo: true, which brings its own service";

describe("one wrong value, one problem", () => {
  test.each([
    [{ ...smallJob, name: "" }, `name: got "", expected ${name}`],
    [{ ...smallJob, name: "-a" }, `name: got "-a", expected ${name}`],
    [{ ...smallJob, name: "a".repeat(101) }, `name: got "${"a".repeat(60)}…", expected ${name}`],
    [{ ...smallJob, name: 7 }, `name: got 7, expected ${name}`],
    [{ ...smallJob, service: [] }, "service: got [], expected a mapping with base_url, or with demo: true"],
    [{ ...smallJob, service: "x" }, 'service: got "x", expected a mapping with base_url, or with demo: true'],
    [{ ...smallJob, service: {} }, `service.base_url: got nothing, expected ${url}`],
    [{ ...smallJob, service: { demo: false } }, `service.base_url: got nothing, expected ${url}`],
    [{ ...smallJob, service: { demo: "yes" } }, 'service.demo: got "yes", expected true or false'],
    [withService({ base_url: null }), `service.base_url: got null, expected ${url}`],
    [withService({ base_url: "kb.example.com/v1" }), `service.base_url: got "kb.example.com/v1", expected ${url}`],
    [
      withService({ base_url: "ftp://kb.example.com" }),
      `service.base_url: got "ftp://kb.example.com", expected ${url}`,
    ],
    [withService({ base_url: "https://a b/v1" }), `service.base_url: got "https://a b/v1", expected ${url}`],
    [withService({ base_url: "https://kb:99999/v1" }), `service.base_url: got "https://kb:99999/v1", expected ${url}`],
    [withService({ base_url: `https://u:${secret}@kb/v1` }), `service.base_url: ${hidden}, expected ${url}`],
    [withService({ base_url: `https://kb/v1?key=${secret}` }), `service.base_url: ${hidden}, expected ${url}`],
    [withService({ base_url: `https://kb/v1#${secret}` }), `service.base_url: ${hidden}, expected ${url}`],
    [withService({ base_url: "http://10.0.0.1/v1" }), `service.base_url: got "http://10.0.0.1/v1", expected ${noHttp}`],
    [
      withService({ base_url: "http://127.0.0.1.nip.io" }),
      `service.base_url: got "http://127.0.0.1.nip.io", expected ${noHttp}`,
    ],
    [withService({ api_key_env: key }), `service.api_key_env: ${hidden}, expected ${variable}`],
    [withService({ api_key_env: 123456 }), `service.api_key_env: ${hidden}, expected ${variable}`],
    [withService({ api_key_env: "" }), `service.api_key_env: got "", expected ${variable}`],
    [withService({ api_key_file: key }), `service.api_key_file: ${hidden}, expected ${keyFile}`],
    [withService({ api_key_file: "a\0b" }), `service.api_key_file: ${hidden}, expected ${keyFile}`],
    [
      withService({ api_key_file: "key.txt", api_key_env: "MY_KEY" }),
      `service.api_key_file: ${hidden}, expected nothing beside api_key_env: the key comes from one place`,
    ],
    [
      withService({ api_key_file: "key.txt", api_key_command: ["pass"] }),
      "service.api_key_command: got a list, expected nothing beside api_key_file: the key comes from one place",
    ],
    [withService({ api_key_command: "" }), `service.api_key_command: got "", expected ${command}`],
    [withService({ api_key_command: "pass show" }), `service.api_key_command: ${hidden}, expected ${command}`],
    [withService({ api_key_command: [] }), `service.api_key_command: got [], expected ${command}`],
    [withService({ api_key_command: [""] }), `service.api_key_command: got a list, expected ${command}`],
    [withService({ api_key_command: ["echo", key] }), `service.api_key_command[1]: ${hidden}, expected ${command}`],
    [withService({ api_key_command: ["a", "b\0"] }), `service.api_key_command[1]: ${hidden}, expected ${command}`],
    [withService({ api_key_command: ["a", 7] }), `service.api_key_command[1]: ${hidden}, expected ${command}`],
    [withService({ concurrency: 0 }), "service.concurrency: got 0, expected a whole number from 1 to 64"],
    [withService({ concurrency: 65 }), "service.concurrency: got 65, expected a whole number from 1 to 64"],
    [withService({ concurrency: 1.5 }), "service.concurrency: got 1.5, expected a whole number from 1 to 64"],
    [withService({ concurrency: 100.5 }), "service.concurrency: got 100.5, expected a whole number from 1 to 64"],
    [withService({ concurrency: "8" }), 'service.concurrency: got "8", expected a whole number from 1 to 64'],
    [
      withService({ concurrency: Number.POSITIVE_INFINITY }),
      "service.concurrency: got Infinity, expected a whole number from 1 to 64",
    ],
    [withService({ max_rps: 0 }), "service.max_rps: got 0, expected a number above 0, at most 10000"],
    [withService({ timeout: -1 }), "service.timeout: got -1, expected a number of seconds above 0, at most 3600"],
    [withService({ retries: 21 }), "service.retries: got 21, expected a whole number from 0 to 20"],
    [withService({ outage: -1 }), "service.outage: got -1, expected a whole number of seconds from 0 to 86400"],
    [withService({ max_body: 0 }), "service.max_body: got 0, expected a whole number of MB from 1 to 1024"],
    [withService({ ca_file: "" }), 'service.ca_file: got "", expected the path of a PEM file'],
    [withService({ allow_http: "no" }), 'service.allow_http: got "no", expected true or false'],
    [
      { ...demo, service: { demo: true, base_url: "https://kb/v1" } },
      `service.base_url: got "https://kb/v1", expected ${besideDemo}`,
    ],
    [{ ...demo, service: { demo: true, api_key_env: "A" } }, `service.api_key_env: ${hidden}, expected ${besideDemo}`],
    [{ ...demo, service: { demo: true, ca_file: "a.pem" } }, `service.ca_file: got "a.pem", expected ${besideDemo}`],
    [{ ...demo, service: { demo: true, allow_http: true } }, `service.allow_http: got true, expected ${besideDemo}`],
    [{ service: smallJob.service }, "datasets: got nothing, expected a list of datasets, or the word all"],
    [{ ...smallJob, datasets: "every" }, 'datasets: got "every", expected a list of datasets, or the word all'],
    [
      { ...smallJob, datasets: { id: secret } },
      "datasets: got a mapping, expected a list of datasets, or the word all",
    ],
    [{ ...smallJob, datasets: [] }, "datasets: got [], expected at least one dataset"],
    [
      { ...smallJob, datasets: [dataset] },
      `datasets[0]: got "${dataset}", expected a mapping with id, and documents or batches`,
    ],
    [{ ...smallJob, datasets: [{ documents: [document] }] }, `datasets[0].id: got nothing, expected ${uuid}`],
    [withDataset({ id: "7f0c" }), `datasets[0].id: got "7f0c", expected ${uuid}`],
    [
      { ...smallJob, datasets: [...smallJob.datasets, { id: dataset.toUpperCase(), batches: ["b"] }] },
      `datasets[1].id: got "${dataset.toUpperCase()}", expected each dataset once; datasets[0] is the same`,
    ],
    [
      withDataset({ documents: [] }),
      "datasets[0].documents: got [], expected at least one document or batch, or the word all for documents",
    ],
    [
      withDataset({ documents: null }),
      "datasets[0].documents: got null, expected at least one document or batch, or the word all for documents",
    ],
    [
      withDataset({ documents: document }),
      `datasets[0].documents: got "${document}", expected a list of document UUIDs, or the word all`,
    ],
    [withDataset({ documents: [document, 1] }), `datasets[0].documents[1]: got 1, expected ${uuid}`],
    [withDataset({ documents: ["all"] }), `datasets[0].documents[0]: got "all", expected ${uuid}`],
    [
      withDataset({ documents: [document, otherDocument, document.toUpperCase()] }),
      `datasets[0].documents[2]: got "${document.toUpperCase()}", expected each document once; documents[0] is the same`,
    ],
    [
      withDataset({ batches: [2025] }),
      'datasets[0].batches[0]: got 2025, expected the batch id in quotes, as in "20250306120000123456": a number loses its last digits',
    ],
    [withDataset({ batches: [""] }), `datasets[0].batches[0]: got "", expected ${batch}`],
    [withDataset({ batches: [".."] }), `datasets[0].batches[0]: got "..", expected ${batch}`],
    [withDataset({ batches: "b" }), 'datasets[0].batches: got "b", expected a list of batch ids'],
    [
      withDataset({ batches: ["b", "b"] }),
      'datasets[0].batches[1]: got "b", expected each batch once; batches[0] is the same',
    ],
    [
      withDataset({ status: "completed" }),
      'datasets[0].status: got "completed", expected a list of statuses, such as [completed]',
    ],
    [withDataset({ status: [""] }), 'datasets[0].status[0]: got "", expected a status, such as completed'],
    [
      withDataset({ status: ["a", "a"] }),
      'datasets[0].status[1]: got "a", expected each status once; status[0] is the same',
    ],
    [
      withDataset({ keyword: "" }),
      'datasets[0].keyword: got "", expected text that is not empty, in quotes where it looks like a number',
    ],
    [
      withDataset({ keyword: 2024 }),
      "datasets[0].keyword: got 2024, expected text that is not empty, in quotes where it looks like a number",
    ],
    [{ ...smallJob, child_chunks: true }, "child_chunks: got true, expected all, auto or none"],
    [{ ...smallJob, consistency: "none" }, 'consistency: got "none", expected anchored, sweeps or counts'],
    [withOutput("there"), 'output: got "there", expected a mapping such as {dir: output, formats: [jsonl]}'],
    [
      withOutput({ dir: "s3://B" }),
      'output.dir: got "s3://B", expected s3://bucket/prefix; the name of a bucket has 3 to 63 lower-case letters, digits, dots and hyphens',
    ],
    [
      withOutput({ dir: "out", work_dir: "work" }),
      'output.work_dir: got "work", expected nothing, unless dir is s3://bucket/prefix',
    ],
    [withOutput({ dir: "" }), 'output.dir: got "", expected the path of a folder, without a question mark in it'],
    [
      withOutput({ dir: "a\0b" }),
      'output.dir: got "a\\u0000b", expected the path of a folder, without a question mark in it',
    ],
    [withOutput({ formats: [] }), "output.formats: got [], expected at least one of jsonl, csv, parquet or duckdb"],
    [withOutput({ formats: "csv" }), 'output.formats: got "csv", expected a list of jsonl, csv, parquet or duckdb'],
    [withOutput({ formats: ["csv", "xml"] }), 'output.formats[1]: got "xml", expected jsonl, csv, parquet or duckdb'],
    [
      withOutput({ formats: ["csv", "csv"] }),
      'output.formats[1]: got "csv", expected each format once; formats[0] is the same',
    ],
    [withOutput({ keep: 14 }), "output.keep: got 14, expected a mapping such as {last: 14}"],
    [withOutput({ keep: {} }), "output.keep: got {}, expected at least one of last, daily, weekly and monthly"],
    [withOutput({ keep: { last: 0 } }), "output.keep.last: got 0, expected a whole number from 1 to 10000"],
    [withOutput({ keep_signatures: 1 }), "output.keep_signatures: got 1, expected true or false"],
    [
      withOutput({ metrics_file: "x/kbdump.txt" }),
      'output.metrics_file: got "x/kbdump.txt", expected the path of a file whose name ends in .prom',
    ],
    [withOutput({ csv_safe: "yes" }), 'output.csv_safe: got "yes", expected true or false'],
    [withOutput({ memory: "80%" }), 'output.memory: got "80%", expected a size such as 800MB or 2GB'],
    [withOutput({ memory: 800 }), "output.memory: got 800, expected a size such as 800MB or 2GB"],
    [withNotify({}), "notify: got {}, expected at least one of url, start, success, partial and failure"],
    [
      withNotify({ style: "teams" }),
      "notify: got a mapping, expected at least one of url, start, success, partial and failure",
    ],
    [
      withNotify({ url: "https://x.example", style: "xml" }),
      "notify.style: got a value that is not shown, expected json or teams",
    ],
    [withNotify([]), "notify: got [], expected a mapping such as {url: https://hc-ping.com/your-uuid}"],
  ])("%j", (job, problem) => {
    expect(problemsOf(job)).toEqual([problem]);
  });
});

test.each([
  secret,
  `http://kb.example.com/${secret}`,
  `https://user:${secret}@kb.example.com`,
  `https://kb.example.com/${secret}#x`,
  `https://kb.example.com/${secret}\n`,
  `https:///${secret}`,
])("whom to tell, %s, is refused and not shown", (url) => {
  const expected = "an https URL without user and password (http for this machine only)";
  expect(problemsOf(withNotify({ url }))).toEqual([`notify.url: got a value that is not shown, expected ${expected}`]);
});

describe("an unknown key", () => {
  test.each<readonly [unknown, string]>([
    [{ ...smallJob, Output: {} }, "Output: unknown key; did you mean output?"],
    [withService({ "base-url": secret }), "service.base-url: unknown key; did you mean base_url?"],
    [withService({ concurency: 4 }), "service.concurency: unknown key; did you mean concurrency?"],
    [withDataset({ docments: [secret] }), "datasets[0].docments: unknown key; did you mean documents?"],
    [withOutput({ keep: { last: 1, dayly: 1 } }), "output.keep.dayly: unknown key; did you mean daily?"],
    [
      withOutput({ colour: secret }),
      "output.colour: unknown key; expected one of dir, work_dir, formats, keep, keep_signatures, csv_safe, compress, partition, metrics_file, memory",
    ],
    [
      withOutput({ "a\nb": 1 }),
      'output["a\\nb"]: unknown key; expected one of dir, work_dir, formats, keep, keep_signatures, csv_safe, compress, partition, metrics_file, memory',
    ],
    ...["api_key", "apiKey", "key", "token", "access-token", "password"].map(
      (bad) =>
        [
          withService({ [bad]: secret }),
          `service.${bad}: the key itself is never in the file: use api_key_env, api_key_file or api_key_command`,
        ] as const,
    ),
  ])("%j", (job, problem) => {
    expect(problemsOf(job)).toEqual([problem]);
  });

  test("is named with the others, even a name that objects inherit", () => {
    const job: unknown = JSON.parse(
      '{"service":{"demo":true,"constructor":1,"__proto__":2,"toString":3},"datasets":"all","a":1,"b":2}',
    );
    expect(checkJob(job, job).unknownKeys.map(({ path }) => path.join("."))).toEqual([
      "service.constructor",
      "service.__proto__",
      "service.toString",
      "a",
      "b",
    ]);
  });
});

describe("right", () => {
  test.each([
    ["http on this machine", withService({ base_url: "http://localhost:5001/v1" })],
    ["http on 127.0.0.0/8", withService({ base_url: "http://127.8.9.1:5001/v1" })],
    ["http on ::1", withService({ base_url: "http://[::1]:5001/v1" })],
    ["http where it is permitted", withService({ base_url: "http://10.0.0.1/v1", allow_http: true })],
    ["an address with @ in its path", withService({ base_url: "https://kb/@team/v1" })],
    ["demo", demo],
    [
      "demo with limits",
      { ...demo, service: { demo: true, concurrency: 1, retries: 0, timeout: 0.5, api_key_env: null } },
    ],
    ["the word all for datasets", { ...smallJob, datasets: "all" }],
    ["the word all for documents", withDataset({ documents: "all" })],
    ["batches without documents", withDataset({ documents: [], batches: ["20250306120000123456"] })],
    [
      "a document in two datasets",
      { ...smallJob, datasets: [...smallJob.datasets, { id: otherDataset, documents: [document] }] },
    ],
    ["every way to keep runs", withOutput({ keep: { last: 1, daily: 7, weekly: 4, monthly: 12 } })],
    ["whom to tell", withNotify({ url: "https://hc-ping.com/uuid", start: "http://127.0.0.1:8000/x?y=1" })],
    ["whom to tell, by name", withNotify({ failure: "HTTPS://EXAMPLE.COM" })],
    ["the address of a JSON Schema", { ...smallJob, $schema: "./job.schema.json" }],
  ])("%s", (_, job) => {
    expect(problemsOf(job)).toEqual([]);
  });

  test("ids come out in lower case, addresses without a slash at their end", () => {
    const job = {
      service: { base_url: "https://kb/v1//" },
      datasets: [{ id: dataset.toUpperCase(), documents: [document.toUpperCase()] }],
    };
    expect(checkJob(job, job).file).toMatchObject({
      service: { base_url: "https://kb/v1" },
      datasets: [{ id: dataset, documents: [document] }],
    });
  });
});

test("messages show a value as written, before variables are replaced", () => {
  const written = withDataset({ id: `\${ID}`, documents: [`$\${DOCUMENT}`] });
  const filled = withDataset({ id: secret, documents: [`\${DOCUMENT}`] });
  expect(checkJob(filled, written).wrongValues.map(({ message }) => message)).toEqual([
    `got "\${ID}" (filled in from the environment), expected ${uuid}`,
    `got "$\${DOCUMENT}", expected ${uuid}`,
  ]);
});
