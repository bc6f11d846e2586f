// biome-ignore-all lint/suspicious/noTemplateCurlyInString: job files hold ${NAME} in plain strings
import { chmod, mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { UsageError } from "../../src/errors.js";
import type { Job } from "../../src/job/job.js";
import { loadJob } from "../../src/job/load-job.js";
import { recordedJobFile, resolvedOptions } from "../../src/job/manifest-options.js";
import { inFull } from "../rounds.js";
import { dataset, document, jobFolder, otherDocument, problemTexts, smallJob, usageError } from "./job-folder.js";

const { folder, load, problems, write } = await jobFolder();

const contractExample = (documents: string) => `
name: nightly                      # [a-z0-9][a-z0-9_-]*; default: the file's name
service:
  base_url: https://kb.example.com/v1
  api_key_env: KNOWLEDGE_API_KEY   # the variable with the key (this is the default); or api_key_file: path
  concurrency: 8                   # requests in flight at the most, 1 to 64
  max_rps: 50                      # requests a second at the most; absent: no bound
  timeout: 60                      # seconds for one request
  retries: 6                       # tries after the first
  ca_file: ./ca.pem                # optional
datasets:
  - id: ${dataset}                 # UUID
    documents: ${documents}        # UUIDs, or the word all
    batches: ["20250306120000123456"]   # for indexing-status snapshots; may be empty
    status: [completed]            # optional filter of chunks, sent as status=…&status=…
    keyword: text                  # optional filter of chunks
child_chunks: all                  # all (default): the child list of every chunk · auto: fewest requests · none
consistency: anchored              # anchored (default): each page once, then the ends again · sweeps · counts
output:
  dir: output
  formats: [jsonl, duckdb]         # of jsonl, csv, parquet, duckdb
  keep: {last: 14}                 # runs to keep: last, daily, weekly, monthly; absent: keep all
  keep_signatures: false
`;

const contractJob: Job = {
  name: "nightly",
  service: {
    demo: false,
    baseUrl: "https://kb.example.com/v1",
    apiKeyEnv: "KNOWLEDGE_API_KEY",
    apiKeyFile: undefined,
    apiKeyCommand: undefined,
    concurrency: 8,
    maxRps: 50,
    timeout: 60,
    retries: 6,
    outage: 300,
    maxBody: 64_000_000,
    maxOriginal: 2_000_000_000,
    caFile: "./ca.pem",
    allowHttp: false,
  },
  datasets: [
    {
      id: dataset,
      documents: [document, otherDocument],
      batches: ["20250306120000123456"],
      status: ["completed"],
      keyword: "text",
    },
  ],
  childChunks: "all",
  consistency: "anchored",
  details: "auto",
  originals: false,
  resumeWithin: 48,
  output: {
    dir: "output",
    bucket: undefined,
    formats: ["jsonl", "duckdb"],
    keep: { last: 14 },
    keepSignatures: false,
    csvSafe: false,
    compress: "none",
    partition: "none",
    metricsFile: undefined,
    memory: "500MB",
  },
  notify: undefined,
  labels: [],
  shard: undefined,
  documentsFrom: undefined,
};

describe("a job file", () => {
  test("with everything in it becomes a job", async () => {
    expect(await load(contractExample(`[${document}, ${otherDocument}]`))).toEqual(contractJob);
  });

  test("may name a bucket, with a folder for its work", async () => {
    const dir = "s3://kb-dumps/nightly/";
    expect((await load({ ...smallJob, output: { dir } })).output).toMatchObject({
      dir: "output/.s3/kb-dumps/nightly",
      bucket: "s3://kb-dumps/nightly",
    });
    const output = { dir: "s3://kb-dumps", work_dir: "/var/kb" };
    expect((await load({ ...smallJob, output })).output).toMatchObject({
      dir: "/var/kb",
      bucket: "s3://kb-dumps",
    });
  });

  test("may name a bucket, and --out a local folder instead", async () => {
    const output = { dir: "s3://kb-dumps", work_dir: "/var/kb" };
    const { output: local } = await load({ ...smallJob, output }, { flags: { out: "here" } });
    expect(local).toMatchObject({ dir: "here", bucket: undefined });
    const { output: other } = await load({ ...smallJob, output }, { flags: { out: "s3://other" } });
    expect(other).toMatchObject({ dir: "/var/kb", bucket: "s3://other" });
  });

  test("may be JSON, by its content and not by its name", async () => {
    expect(await load(JSON.stringify({ ...smallJob, name: "j" }, null, "\t"), { name: "job.txt" })).toMatchObject({
      name: "j",
    });
  });

  test("has a default for everything but service and datasets", async () => {
    expect(await load(smallJob)).toEqual({
      ...contractJob,
      service: { ...contractJob.service, caFile: undefined, maxRps: undefined },
      datasets: [{ id: dataset, documents: [document], batches: [], status: [], keyword: undefined }],
      output: { ...contractJob.output, keep: undefined },
      labels: [expect.objectContaining({ path: ["name"] })],
    });
  });

  test("may name files by ~, the home folder, and a command in place of a key file", async () => {
    const service = { ...smallJob.service, api_key_file: "~/key.txt", ca_file: "~" };
    expect((await load({ ...smallJob, service })).service).toMatchObject({
      apiKeyFile: join(homedir(), "key.txt"),
      caFile: homedir(),
    });
    for (const file of ["~other/key", "a/~/key", "./~"]) {
      expect((await load({ ...smallJob, service: { ...service, ca_file: file } })).service.caFile).toBe(file);
    }
    const command = { ...smallJob.service, api_key_command: ["${PROGRAM}", "$HOME", ""] };
    const { apiKeyCommand } = (await load({ ...smallJob, service: command }, { env: { PROGRAM: "pass" } })).service;
    expect(apiKeyCommand).toEqual(["pass", "$HOME", ""]);
  });

  test("may have no value for a key that has a default", async () => {
    const empty = `
name:
service: {demo:, base_url: "https://kb.example.com/v1", api_key_env:, concurrency:, timeout:, retries:, max_body:, max_original:, allow_http:}
datasets:
  - {id: ${dataset}, documents: [${document}], batches:, status:}
child_chunks:
consistency:
details:
originals:
output:
`;
    expect(await load(empty)).toEqual(await load(smallJob));
    const emptyOutput = { dir: null, formats: null, keep: null, keep_signatures: null, csv_safe: null, memory: null };
    expect(await problems({ ...smallJob, output: emptyOutput })).toEqual([
      "output.keep: got null, expected a mapping such as {last: 14}",
    ]);
  });

  test("is named after its file if it has no name", async () => {
    expect((await load(smallJob, { name: "weekly_2.yml" })).name).toBe("weekly_2");
    expect((await load({ ...smallJob, name: "own" }, { name: "weekly.yml" })).name).toBe("own");
    expect(await problems(smallJob, { name: "My Job.v2.yaml" })).toEqual([
      'name (taken from the file\'s name; set name to choose another): got "My Job.v2", ' +
        "expected a name of a-z, 0-9, _ and - that starts with a letter or digit, at most 100 characters",
    ]);
  });

  test("needs the variables of notify only for a command that notifies", async () => {
    const job = { ...smallJob, notify: { failure: "https://${NOTIFY_HOST}/x" } };
    const file = await write(JSON.stringify(job));
    await expect(loadJob({ file }, {}, {})).rejects.toThrow(
      "notify.failure: NOTIFY_HOST is not set in the environment",
    );
    expect((await loadJob({ file }, {}, {}, { notifies: false })).notify).toBeUndefined();
    const env = { NOTIFY_HOST: "example.com" };
    const set = await loadJob({ file }, {}, env, { notifies: false });
    expect(set.notify).toEqual({ urls: { failure: "https://example.com/x" }, style: "json" });
    const other = await write(JSON.stringify({ ...smallJob, notify: { failur: "https://${NOTIFY_HOST}/x" } }));
    await expect(loadJob({ file: other }, {}, env, { notifies: false })).rejects.toThrow("did you mean failure?");
  });

  test("is filled in from the environment", async () => {
    const job = { ...smallJob, service: { base_url: "https://${HOST}/v1" }, output: { dir: "a$${HOST}" } };
    const { service, output } = await load(job, { env: { HOST: "kb.example.com" } });
    expect([service.baseUrl, output.dir]).toEqual(["https://kb.example.com/v1", "a${HOST}"]);
  });

  test("may say all in place of the documents", async () => {
    const [dataset] = contractJob.datasets;
    const datasets = [{ ...Object(dataset), documents: "all" }];
    expect(await load(contractExample("all"))).toEqual({ ...contractJob, datasets });
  });
});

describe("a job file that is wrong", () => {
  test("reports all its problems at once, and shows no value of an unknown key or of the environment", async () => {
    const job = `
name: Nightly
servce: {}
service:
  api_key: tell-nobody
  concurrency: 100
datasets:
  - id: \${DATASET}
    docments: [tell-nobody]
  - id: \${UNSET}
    documents: all
output: {formats: [xml], keep: {last: 0}}
`;
    const error = await usageError(load(job, { env: { DATASET: "tell-nobody" }, flags: { dataset: dataset } }));
    expect(error.message.replace(folder, "")).toBe(
      `12 problems with the job file "/nightly.yaml":
  --dataset: only without a job file; set datasets[0].id in the file
  service.api_key: the key itself is never in the file: use api_key_env, api_key_file or api_key_command
  datasets[0].docments: unknown key; did you mean documents?
  servce: unknown key; did you mean service?
  datasets[1].id: UNSET is not set in the environment
  name: got "Nightly", expected a name of a-z, 0-9, _ and - that starts with a letter or digit, at most 100 characters
  service.concurrency: got 100, expected a whole number from 1 to 64
  service.base_url: got nothing, expected an http or https URL such as https://kb.example.com/v1, without user, password, query or fragment
  datasets[0].id: got "\${DATASET}" (filled in from the environment), expected a UUID, 8-4-4-4-12 hexadecimal digits
  datasets[0].documents: got nothing, expected at least one document or batch, or the word all for documents
  output.formats[0]: got "xml", expected jsonl, csv, parquet or duckdb
  output.keep.last: got 0, expected a whole number from 1 to 10000`,
    );
  });

  test("is empty", async () => {
    const missing = [
      "service: got nothing, expected a mapping with base_url, or with demo: true",
      "datasets: got nothing, expected a list of datasets, or the word all",
    ];
    expect(await problems("")).toEqual(missing);
    expect(await problems("# nothing yet\n")).toEqual(missing);
  });

  test.each([
    ["- a", "got a list, expected a mapping with service, datasets and output"],
    ["just text", 'got "just text", expected a mapping with service, datasets and output'],
  ])("is no mapping: %s", async (text, problem) => {
    expect(await problems(text)).toEqual([problem]);
  });

  test("never inserts the key, and never prints it", async () => {
    const env = { KNOWLEDGE_API_KEY: "tell-nobody", MY_KEY: "tell-nobody" };
    const job = { ...smallJob, output: { dir: "${KNOWLEDGE_API_KEY}" } };
    const refusal = "holds the key, which is never part of a job; its name belongs in api_key_env";
    expect(await problems(job, { env })).toEqual([`output.dir: KNOWLEDGE_API_KEY ${refusal}`]);
    const service = { ...smallJob.service, api_key_env: "${MY_KEY}" };
    expect(await problems({ ...smallJob, service }, { env })).toEqual([`service.api_key_env: MY_KEY ${refusal}`]);
  });

  test("cannot be read", async () => {
    const read = async (file: string) => (await usageError(loadJob({ file }, {}, {}))).message.replace(folder, "");
    await mkdir(join(folder, "folder.yaml"));
    expect(await read(join(folder, "folder.yaml"))).toBe("job file /folder.yaml is a folder");
    expect(await read(join(folder, "none.yaml"))).toBe("job file /none.yaml does not exist");
    const binary = await write(Uint8Array.of(0xff, 0xfe, 0x00), "binary.yaml");
    expect(await read(binary)).toBe('cannot read the job file "/binary.yaml": it is not UTF-8 text');
    const large = await write(new Uint8Array(16_000_001), "large.yaml");
    expect(await read(large)).toBe('cannot read the job file "/large.yaml": it is larger than 16 MB');
  });

  test.skipIf(process.getuid?.() === 0)("may not be read", async () => {
    const file = await write("", "closed.yaml");
    await chmod(file, 0);
    expect((await usageError(loadJob({ file }, {}, {}))).message).toMatch(/: no permission to read it$/);
  });
});

describe("flags", () => {
  test("win over the file, even over a variable that is not set", async () => {
    const job = {
      ...smallJob,
      service: { ...smallJob.service, concurrency: 2 },
      output: { dir: "${UNSET}", formats: ["csv"] },
    };
    const flags = {
      out: "there",
      format: ["jsonl,parquet"],
      concurrency: "16",
      childChunks: "none",
      consistency: "sweeps",
      csvSafe: true,
      keepSignatures: true,
    };
    const { service, output, childChunks, consistency } = await load(job, { flags });
    expect(consistency).toBe("sweeps");
    expect(service.concurrency).toBe(16);
    expect(output).toEqual({
      ...contractJob.output,
      dir: "there",
      keep: undefined,
      formats: ["jsonl", "parquet"],
      csvSafe: true,
      keepSignatures: true,
    });
    expect(childChunks).toBe("none");
  });

  test("are not filled in from the environment", async () => {
    expect((await load(smallJob, { flags: { out: "${HOME}" }, env: { HOME: "/root" } })).output.dir).toBe("${HOME}");
  });

  test("that are wrong are named in their problems", async () => {
    const flags = { concurrency: 100, maxRps: 5, format: ["xml"], out: "", childChunks: "some", consistency: "often" };
    expect(await problems(smallJob, { flags })).toEqual([
      "--concurrency: got 100, expected a whole number from 1 to 64",
      '--child-chunks: got "some", expected all, auto or none',
      '--consistency: got "often", expected anchored, sweeps or counts',
      '--out: got "", expected the path of a folder, without a question mark in it',
      '--format: got "xml", expected jsonl, csv, parquet or duckdb',
    ]);
    expect(await problems(smallJob, { flags: { concurrency: Number.NaN } })).toEqual([
      "--concurrency: got NaN, expected a whole number from 1 to 64",
    ]);
  });

  test("that say what is read do not go with a file", async () => {
    const flags = { baseUrl: "https://x/v1", dataset, document: [document] };
    expect(await problems(smallJob, { flags: { ...flags, name: "x" } })).toEqual([
      "--base-url: only without a job file; set service.base_url in the file",
      "--dataset: only without a job file; set datasets[0].id in the file",
      "--document: only without a job file; set datasets[0].documents in the file",
      "--name: only without a job file; set name in the file",
    ]);
  });

  test("--batch replaces the batches of the only dataset", async () => {
    const [only] = smallJob.datasets;
    const written = { ...smallJob, datasets: [{ ...only, batches: ["${UNSET}"] }] };
    expect((await load(written, { flags: { batch: ["b", "c"] } })).datasets).toMatchObject([
      { id: dataset, documents: [document], batches: ["b", "c"] },
    ]);
    const two = { ...smallJob, datasets: [only, { ...only, id: document }] };
    expect(await problems(two, { flags: { batch: ["b"] } })).toEqual([
      "--batch: only with a job file of one dataset; set the batches of each dataset in the file, or use --base-url and --dataset instead of the file",
    ]);
    expect(await problems(smallJob, { flags: { batch: [""] } })).toEqual([
      '--batch: got "", expected a batch id: text that is not empty, nor . or ..',
    ]);
  });
});

describe("a job without a file", () => {
  test("is named after its dataset", async () => {
    const flags = {
      baseUrl: "https://kb.example.com/v1/",
      dataset: dataset.toUpperCase(),
      document: [document],
      batch: ["7"],
    };
    expect(await loadJob({ none: true }, { ...flags, format: ["csv"], out: "there" }, {})).toEqual({
      ...contractJob,
      name: dataset,
      service: { ...contractJob.service, caFile: undefined, maxRps: undefined },
      datasets: [{ id: dataset, documents: [document], batches: ["7"], status: [], keyword: undefined }],
      output: { ...contractJob.output, dir: "there", formats: ["csv"], keep: undefined },
      labels: expect.arrayContaining([{ path: ["output", "dir"], text: "--out" }]),
    });
  });

  test("reads all documents of a dataset, or all datasets", async () => {
    const flags = { baseUrl: "https://kb.example.com/v1", dataset };
    const ofOne = await loadJob({ none: true }, { ...flags, document: ["all"] }, {});
    expect(ofOne).toMatchObject({ name: dataset, datasets: [{ id: dataset, documents: "all" }] });
    for (const document of [undefined, ["all"]]) {
      const ofAll = await loadJob({ none: true }, { ...flags, dataset: "all", document }, {});
      expect(ofAll).toMatchObject({ name: "all", datasets: "all" });
    }
    const mixed = loadJob({ none: true }, { ...flags, dataset: "all", document: [document], batch: ["b"] }, {});
    const message = "not together with --dataset all, which reads every document of every dataset";
    expect(await problemTexts(mixed)).toEqual([`--document: ${message}`, `--batch: ${message}`]);
  });

  test("says which flags are missing or wrong", async () => {
    expect((await usageError(loadJob({ none: true }, {}, {}))).message).toBe(`3 problems with the command line:
  --base-url: got nothing, expected an http or https URL such as https://kb.example.com/v1, without user, password, query or fragment
  --dataset: got nothing, expected a UUID, 8-4-4-4-12 hexadecimal digits
  --document: got nothing, expected at least one document or batch, or the word all for documents`);
    const flags = {
      baseUrl: "http://kb.example.com/v1",
      dataset,
      document: ["all"],
      batch: ["", "b", "b"],
      concurrency: 0,
    };
    expect(await problemTexts(loadJob({ none: true }, flags, {}))).toEqual([
      "--concurrency: got 0, expected a whole number from 1 to 64",
      '--base-url: got "http://kb.example.com/v1", expected https, as http shows the key to the network; allow_http: true or --allow-http permits it',
      '--batch: got "", expected a batch id: text that is not empty, nor . or ..',
      '--batch: got "b", expected each batch once; batches[1] is the same',
    ]);
  });
});

describe("for all documents", () => {
  const keys = [
    "name",
    "service",
    "datasets",
    "output",
    "id",
    "documents",
    "keep",
    "formats",
    "__proto__",
    "constructor",
  ];
  const anyDocument = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.jsonValue({ maxDepth: 1 }),
      fc.constantFrom("all", "auto", "${HOME}", "${", "$${X}", dataset, 8),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.oneof(fc.constantFrom(...keys), fc.string()), tie("value"), { maxKeys: 5 }),
    ),
  })).value;

  const endsWellOrInUsageError = async (text: string) => {
    try {
      await load(text);
    } catch (error) {
      expect(error).toBeInstanceOf(UsageError);
      expect(String(error)).not.toMatch(/[^\P{Cc}\n]/u);
    }
  };

  test.runIf(inFull)("nothing but UsageError is thrown", async () => {
    await fc.assert(
      fc.asyncProperty(anyDocument, (value) => endsWellOrInUsageError(JSON.stringify(value))),
      { numRuns: 500 },
    );
  });

  test.runIf(inFull)("nothing but UsageError is thrown for text that is no document", async () => {
    const text = fc.array(
      fc.constantFrom(
        "a",
        ":",
        " ",
        "\n",
        "- ",
        "[",
        "]",
        "{",
        "}",
        "&x ",
        "*x",
        "!t ",
        "${A}",
        '"',
        "\t",
        "? ",
        "|",
        "---\n",
      ),
      {
        maxLength: 40,
      },
    );
    await fc.assert(
      fc.asyncProperty(text, (parts) => endsWellOrInUsageError(parts.join(""))),
      { numRuns: 500 },
    );
  });

  test.runIf(inFull)("a job is the same from YAML and from JSON", async () => {
    await fc.assert(
      fc.asyncProperty(anyJob, async (job) => {
        expect(await load(stringify(job))).toEqual(await load(JSON.stringify(job)));
      }),
    );
  });

  test.runIf(inFull)("the record of a run restores the same job", async () => {
    await fc.assert(
      fc.asyncProperty(anyJob, async (file) => {
        const job = await load(JSON.stringify(file));
        const manifest = JSON.parse(
          JSON.stringify({ options: resolvedOptions(job), service: { base_url: job.service.baseUrl } }),
        );
        const recorded = recordedJobFile(manifest, job.output.dir);
        expect(await loadJob({ what: "a run", recorded }, {}, {})).toEqual({ ...job, labels: [] });
      }),
    );
  });
});

const plainText = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }).map((text) => text.replaceAll("$", "€"));

/** Random valid jobs. */
const anyJob = fc.record(
  {
    name: fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,20}$/),
    service: fc.record(
      {
        base_url: fc.webUrl().map((url) => url.replace(/^http:/, "https:")),
        api_key_env: fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,10}$/),
        concurrency: fc.integer({ min: 1, max: 64 }),
        timeout: fc.double({ min: 0.001, max: 3600, noNaN: true }),
        retries: fc.integer({ min: 0, max: 20 }),
        max_body: fc.integer({ min: 1, max: 1024 }),
        max_original: fc.integer({ min: 1, max: 1_000_000 }),
        allow_http: fc.boolean(),
      },
      { requiredKeys: ["base_url"] },
    ),
    datasets: fc.uniqueArray(
      fc.record(
        {
          id: fc.uuid(),
          documents: fc.oneof(fc.constant("all"), fc.uniqueArray(fc.uuid(), { minLength: 1, maxLength: 3 })),
          batches: fc.uniqueArray(
            plainText.filter((text) => !/^\.{1,2}$/.test(text)),
            { maxLength: 3 },
          ),
          status: fc.uniqueArray(plainText, { maxLength: 3 }),
          keyword: plainText,
        },
        { requiredKeys: ["id", "documents"] },
      ),
      { minLength: 1, maxLength: 3, selector: ({ id }) => id },
    ),
    child_chunks: fc.constantFrom("all", "none"),
    consistency: fc.constantFrom("sweeps", "counts", "anchored"),
    output: fc.record(
      {
        dir: fc.stringMatching(/^[\w./ -]{1,20}$/),
        formats: fc.shuffledSubarray(["jsonl", "csv", "parquet", "duckdb"], { minLength: 1 }),
        keep_signatures: fc.boolean(),
        csv_safe: fc.boolean(),
        memory: fc.constantFrom("800MB", "1.5 GiB"),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ["service", "datasets"] },
);
