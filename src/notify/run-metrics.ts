import { tool } from "../tool.js";
import { type Metric, parseMetrics, type Sample, sampleKey } from "./metrics-text.js";
import { outcomes, type RunOutcome } from "./run-outcome.js";

/** Makes the metrics of a job after a run: figures of that run, and sums over this run and those before it. */
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

  /** A counter: the earlier count plus what this run adds, by the value of one label or without one. */
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

  /** Samples as the file before had them: of a published run, when this one published nothing. */
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
 * The metrics of a job after a run. `before` is the file as the run before left it, "" where there is none: counters go on
 * from there, and a run that published nothing takes nothing away. `lastSuccess` is known from elsewhere, in ms.
 */
export function metricsAfter(outcome: RunOutcome, before: string, lastSuccess: number | undefined): readonly Metric[] {
  const run = new RunMetrics(outcome, parseMetrics(before));
  const { job, status, finishedAt } = outcome;
  const known = parseMetrics(before).get(sampleKey(successName, { job })) ?? (lastSuccess ?? Number.NaN) / 1000;
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

/** Reasons of retries that have a series from the first run on, so that a monitor sees their first increase. */
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
