import type { RequestCounts } from "../client/request-counts.js";
import type { Kind } from "../rows/columns.js";
import type { DocumentRow } from "../rows/row.js";
import { tool } from "../tool.js";

/** Computes a job's metrics after a run: values of that run, and sums over all runs. */
class RunMetrics {
  readonly #outcome: RunOutcome;
  readonly #before: ReadonlyMap<string, number>;

  constructor(outcome: RunOutcome, before: ReadonlyMap<string, number>) {
    this.#outcome = outcome;
    this.#before = before;
  }

  sample(value: number, labels: Sample["labels"] = {}): Sample {
    return { labels: { job: this.#outcome.job, ...labels }, value };
  }

  gauge(name: string, help: string, samples: readonly Sample[]): Metric {
    return { name, type: "gauge", help, samples };
  }

  /** A counter: the previous count plus this run's, optionally split by one label. */
  counter(name: string, help: string, label: string, added: Readonly<Record<string, number>>): Metric {
    const labelled = (value: string): Sample["labels"] => (label === "" ? {} : { [label]: value });
    const earlier = this.#labelsBefore(name, label).filter((value) => !(value in added));
    const sums = [...earlier.map((value) => [value, 0] as const), ...Object.entries(added)];
    const samples = sums.map(([value, more]) => {
      const sample = this.sample(more, labelled(value));
      return { ...sample, value: (this.#before.get(sampleKey(name, sample.labels)) ?? 0) + more };
    });
    return { name, type: "counter", help, samples };
  }

  /** The samples of a metric in the previous file. They are kept if this run published nothing. */
  earlier(name: string, label: string): readonly Sample[] {
    return this.#labelsBefore(name, label).map((value) => {
      const sample = this.sample(0, { [label]: value });
      return { ...sample, value: this.#before.get(sampleKey(name, sample.labels)) ?? 0 };
    });
  }

  #labelsBefore(name: string, label: string): readonly string[] {
    if (label === "") return [];
    const head = sampleKey(name, { job: this.#outcome.job }).slice(0, -1);
    return [...this.#before.keys()].flatMap((key) => {
      if (!key.startsWith(`${head},${label}="`)) return [];
      return [
        key.slice(head.length + label.length + 3, -2).replace(/\\(.)/g, (_, next) => (next === "n" ? "\n" : next)),
      ];
    });
  }
}

/**
 * A job's metrics after a run. `before` is the previous file, "" if there is none: counters continue from it, and a run that
 * published nothing keeps its values.
 */
export function metricsAfter(outcome: RunOutcome, before: string): readonly Metric[] {
  const run = new RunMetrics(outcome, parseMetrics(before));
  const { job, status, finishedAt } = outcome;
  const known = parseMetrics(before).get(sampleKey(successName, { job })) ?? Number.NaN;
  const success = status === "complete" ? finishedAt.getTime() / 1000 : known;
  return [
    ...lastRun(run, outcome, Number.isNaN(success) ? [] : [success]),
    ...lastDump(run, outcome),
    ...sums(run, outcome),
  ];
}

function lastRun(run: RunMetrics, { finishedAt, seconds, status }: RunOutcome, success: readonly number[]): Metric[] {
  const ended = finishedAt.getTime() / 1000;
  const duration = Math.round(seconds * 1000) / 1000;
  const each = outcomes.map((one) => run.sample(one === status ? 1 : 0, { status: one }));
  return [
    run.gauge("kbdump_info", "Version of kbdump that ran last.", [run.sample(1, { version: tool.version })]),
    run.gauge("kbdump_last_run_timestamp_seconds", "When the last run ended, whatever its outcome, in Unix time.", [
      run.sample(ended),
    ]),
    run.gauge(
      successName,
      "When the last complete run ended, in Unix time.",
      success.map((time) => run.sample(time)),
    ),
    run.gauge("kbdump_last_run_status", "1 for the outcome of the last run, 0 for the others.", each),
    run.gauge("kbdump_last_run_duration_seconds", "Duration of the last run.", [run.sample(duration)]),
  ];
}

function lastDump(run: RunMetrics, { rows, documents }: RunOutcome): Metric[] {
  return [
    run.gauge("kbdump_rows", "Rows of the last run that was published.", samplesOf(run, "kbdump_rows", "kind", rows)),
    run.gauge(
      "kbdump_documents",
      "Documents of the last run that was published: complete, unstable (moved while they were read), failed.",
      samplesOf(run, "kbdump_documents", "status", documents),
    ),
  ];
}

function sums(run: RunMetrics, { requests, status }: RunOutcome): Metric[] {
  const runs = Object.fromEntries(outcomes.map((each) => [each, each === status ? 1 : 0]));
  const retries = { ...usualReasons, ...requests.retriedBy };
  const one = (count: number) => ({ "": count });
  return [
    run.counter("kbdump_runs_total", "Runs by outcome.", "status", runs),
    run.counter("kbdump_requests_total", "Requests sent to the service.", "", one(requests.sent)),
    run.counter("kbdump_retries_total", "Requests sent again, by reason: a status, or a word.", "reason", retries),
    run.counter(
      "kbdump_throttled_requests_total",
      "Requests that the service refused as too many.",
      "",
      one(requests.throttled),
    ),
    run.counter("kbdump_received_bytes_total", "Bytes of answers, as received.", "", one(requests.bytes)),
  ];
}

/** Retry reasons that are reported from the first run on, so that a monitor sees their first increase. */
const usualReasons = { "429": 0, "503": 0, timeout: 0, connection: 0, "broken answer": 0 };

const successName = "kbdump_last_success_timestamp_seconds";

function samplesOf(
  run: RunMetrics,
  name: string,
  label: string,
  values: Readonly<Record<string, number>> | undefined,
): readonly Sample[] {
  if (!values) return run.earlier(name, label);
  return Object.entries(values).map(([each, value]) => run.sample(value, { [label]: each }));
}

/** The text format of Prometheus: https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** All samples of one metric. */
interface Metric {
  readonly name: string;
  readonly type: "counter" | "gauge";
  readonly help: string;
  readonly samples: readonly Sample[];
}

/** Renders metrics with HELP and TYPE. Leaves out those without samples. */
export function renderMetrics(metrics: readonly Metric[]): string {
  return metrics
    .filter(({ samples }) => samples.length > 0)
    .map(renderMetric)
    .join("");
}

function renderMetric({ name, type, help, samples }: Metric): string {
  const lines = samples.map(({ labels, value }) => `${sampleKey(name, labels)} ${numberText(value)}\n`);
  return `# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

/** A sample without its value, with labels in order: `kbdump_rows{job="nightly",kind="chunks"}`. */
export function sampleKey(name: string, labels: Sample["labels"]): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${escaped(value).replaceAll('"', '\\"')}"`);
  return pairs.length > 0 ? `${name}{${pairs.join(",")}}` : name;
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}

/** Parses the output of `renderMetrics` to values by sample key. Ignores other lines. */
export function parseMetrics(text: string): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  for (const line of text.split("\n")) {
    const [, key, value] = /^([a-z_]+(?:\{.*\})?) ([-+.\deE]+)$/s.exec(line) ?? [];
    if (key !== undefined && Number.isFinite(Number(value))) values.set(key, Number(value));
  }
  return values;
}

const outcomes = ["complete", "partial", "failed", "interrupted"] as const;

/** How a run ended. The last two outcomes publish nothing. */
type Outcome = (typeof outcomes)[number];

/** The result of a run for notifications and metrics: no content and no key; names of documents, but no other text of the service. */
export interface RunOutcome {
  readonly job: string;
  /** The id of the run; null if it failed before it had one, for example without a key. */
  readonly runId: string | null;
  readonly status: Outcome;
  /** When this process finished. `seconds` and `requests` leave out earlier processes of the run. */
  readonly finishedAt: Date;
  readonly seconds: number;
  readonly requests: Readonly<RequestCounts>;
  /** Rows, and documents by status; undefined if nothing was published. */
  readonly rows: Readonly<Partial<Record<Kind, number>>> | undefined;
  readonly documents: Readonly<Record<DocumentRow["status"], number>> | undefined;
  /** Ids of the first failed documents. */
  readonly failedDocuments: readonly string[];
  readonly failedNames: readonly string[];
  /** The result of the run in one sentence. */
  readonly message: string;
}
