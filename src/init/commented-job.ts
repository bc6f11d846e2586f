import { fileFormats } from "../dump/formats/formats.js";

/** The job file that `kbdump init` writes: it runs once its variables are set, and says what else there is to choose. */
export function initialJobFile(): string {
  return `# A job of kbdump: what to read from a knowledge service, and where to put it.
#
#   export KNOWLEDGE_API_KEY=…          # the key; it is never in this file
#   export KNOWLEDGE_BASE_URL=…         # such as https://kb.example.com/v1
#   export KNOWLEDGE_DATASET_ID=…       # a UUID, as it stands in the address of the dataset's page
#   kbdump run this-file.yaml
#
# \${NAME} is filled in from the environment; inside [ ] it stands in quotes. Write values in place of it where you like.
# Paths are relative to the folder that kbdump is started in.

# name: nightly                         # a-z, 0-9, _ and -; default: the name of this file

service:
  base_url: \${KNOWLEDGE_BASE_URL}       # with the version segment at its end, /v1
  # demo: true                          # in place of base_url: the embedded service with sample data
  api_key_env: KNOWLEDGE_API_KEY        # the variable that holds the key (this is the default)
  # api_key_file: ~/kbdump.key          # in place of api_key_env: a file that holds the key
  # api_key_command: [pass, show, kb]   # in place of api_key_env: a program that prints the key
  concurrency: 8                        # maximum concurrent requests, 1 to 64
  # max_rps: 50                         # maximum requests per second
  timeout: 60                           # seconds for one request
  retries: 6                            # tries after the first, 0 to 20
  # outage: 300                         # seconds for which the service may be gone in the middle of a run
  # max_body: 64                        # maximum MB of one answer
  # max_original: 2000                  # maximum MB of one original file
  # ca_file: ./ca.pem                   # the authority behind the certificate of the service
  # allow_http: true                    # plain http to another host: shows the key to the network

# datasets: all                         # in place of the list: every document of every dataset
datasets:
  - id: \${KNOWLEDGE_DATASET_ID}
    documents: all                      # or a list of UUIDs, as they stand in the addresses of the documents' pages
    # batches: ["20250306120000123456"] # in quotes: takes their indexing status, too
    # status: [completed]               # only chunks of these statuses
    # keyword: text                     # only chunks that hold this text

child_chunks: all                       # all; auto: only the child lists that a sample calls for; none
consistency: sweeps                     # sweeps: lists of several pages are read twice; anchored: once, and ranks are kept; counts: may lose rows
details: false                          # true: also settings of datasets and documents, and metadata values: what a restore needs
originals: false                        # true: also the files that the documents were made from, and attachments of chunks
resume_within: 24                       # hours within which a run that broke off is continued

output:
  dir: output                           # or s3://bucket/prefix
  # work_dir: /var/lib/kbdump           # with s3://…: the local folder for what is in work
  # allow_unsafe_lock: true             # with s3://…: use a store that ignores conditions of writes
  formats: [jsonl, duckdb]              # of ${fileFormats.join(", ")}, duckdb
  # keep: {last: 14}                    # runs to keep: last, daily, weekly, monthly; absent: all of them
  keep_signatures: false                # true: leave the signatures in links to files
  # compress: gzip                      # none, gzip or zstd: JSONL and CSV files as .jsonl.gz, .csv.zst
  # partition: dataset                  # chunks and child chunks in a folder for each dataset, for Spark, Trino and DuckLake
  # csv_safe: true                      # guard CSV cells that a spreadsheet would run; no longer lossless
  # metrics_file: /var/lib/node_exporter/textfile/kbdump_nightly.prom   # metrics for node_exporter
  # memory: 500MB                       # what DuckDB may use

# notify:                               # who is told of a run, by a POST; the URLs are secrets
  # url: \${NOTIFY_URL}                 # https://hc-ping.com/your-uuid: stands for those below, with /start and /fail
  # start: https://example.com/started  # in place of url when a run starts
  # success: https://example.com/done   # when it is complete
  # partial: https://example.com/bad    # when it is partial; default: where failures are told
  # failure: https://example.com/bad    # when it failed
  # style: json                         # json, which Slack takes, too; teams: an Adaptive Card
`;
}
