import { bytesText, countText, durationText, numberText } from "../amounts.js";
import { type RunProgress, readingDocuments } from "../job/run-progress.js";
import type { ReadProgress } from "../read-progress.js";
import { type ShardNumber, shardText } from "../words.js";
import { cutToWidth } from "./display-width.js";
import type { ProgressFacts } from "./log-schema.js";
import type { Rendering, Screen } from "./progress-view.js";
import { secondsFrom } from "./text.js";

/** The progress of a task. All long tasks use this one type. */
interface Progress {
  readonly step: string;
  readonly done: number;
  /** How much there is to do. Undefined: not known yet. Infinity: the task has no end. */
  readonly of: number | undefined;
  readonly unit: ProgressFacts["unit"];
  /** The number to compute the rate from, if it is not `done`. */
  readonly counted?: number;
  /** Other counts to show, most important first. */
  readonly counts?: readonly Count[];
  /** A remark that follows the counts. */
  readonly note?: string | undefined;
  readonly requests?: {
    readonly sent: number;
    readonly inFlight: number;
    /** Milliseconds without an answer; undefined if too short to mention. */
    readonly silent: number | undefined;
  };
}

/** A count, for example of documents, and how many there are. */
export interface Count {
  readonly noun: string;
  readonly done: number;
  readonly of?: number;
}

/** A progress with everything that is computed from it: its share, rate and remaining time. */
interface Measured extends Progress {
  /** The share that is done, from 0 to 1; undefined if unknown. */
  readonly share: number | undefined;
  /** Milliseconds left; undefined if unknown, and while answers are missing. */
  readonly left: number | undefined;
  /** Recent units per second. */
  readonly rate: number;
}

/** Measures the speed of a task from the moment when its size is known. */
class Pace {
  #rate = new RecentRate();
  #begun: { readonly unit: string; readonly done: number; readonly elapsed: number } | undefined;

  measure(progress: Progress, elapsed: number): Measured {
    const { done, of, unit, counted } = progress;
    if (of === undefined || of === Number.POSITIVE_INFINITY) {
      this.#begun = undefined;
      return { ...progress, rate: this.#rate.at(elapsed, counted ?? done), share: undefined, left: undefined };
    }
    if (this.#begun?.unit !== unit || done < this.#begun.done) {
      this.#begun = { unit, done, elapsed };
      if (counted === undefined) this.#rate = new RecentRate(); // measures from now on, because an earlier process may have done a part
    }
    const rate = this.#rate.at(elapsed, counted ?? done);
    const advance = done - this.#begun.done;
    const isKnown =
      progress.requests?.silent === undefined && elapsed > this.#begun.elapsed && advance > 0 && advance >= of / 200;
    return {
      ...progress,
      rate,
      share: of > 0 ? Math.min(1, done / of) : 1,
      left: isKnown ? (Math.max(0, of - done) * (elapsed - this.#begun.elapsed)) / advance : undefined,
    };
  }
}

/** Milliseconds over which to measure a rate. */
const span = 10_000;

/** The rate of a growing number over the last ten seconds. Starts over when the number shrinks. */
export class RecentRate {
  #samples: readonly { readonly elapsed: number; readonly count: number }[] = [];

  /** The current rate, in counts per second. `elapsed` is in milliseconds and never decreases. */
  at(elapsed: number, count: number): number {
    const recent = this.#samples.filter((sample) => sample.elapsed >= elapsed - span);
    const samples = recent.length > 0 ? recent : this.#samples.slice(-1);
    const [from = { elapsed, count }] = samples;
    const isLess = count < (samples.at(-1)?.count ?? 0);
    this.#samples = isLess ? [{ elapsed, count }] : [...samples, { elapsed, count }];
    return elapsed > from.elapsed && !isLess ? ((count - from.count) * 1_000) / (elapsed - from.elapsed) : 0;
  }
}

/** Renders a task. `ask` returns its progress. `isEndless`: it may wait for days. */
export function renderWork(ask: () => Progress, isEndless = false): Rendering {
  const pace = new Pace();
  const measure = (elapsed: number) => pace.measure(ask(), elapsed);
  return {
    facts: (elapsed) => factsOf(measure(elapsed), elapsed),
    lines: (elapsed) => {
      const measured = measure(elapsed);
      return [`${measured.share === undefined ? "" : `${percentText(measured.share)} · `}${lineOf(measured)}`];
    },
    block: (elapsed, screen) => {
      const measured = measure(elapsed);
      const line = lineOf(measured);
      if (measured.of === Number.POSITIVE_INFINITY) return [cutToWidth(line, screen.columns - 1)];
      return [renderBarLine(measured.share, line, screen)];
    },
    drawEvery: 100,
    isEndless,
  };
}

/** One line of text, most important first, because a narrow terminal cuts the end. */
function lineOf({ step, left, counts = [], note, rate, unit, requests, of: all }: Measured): string {
  return [
    (step !== readingDocuments || all === Number.POSITIVE_INFINITY) && step,
    requests?.silent !== undefined && waitingText(requests.silent, requests.inFlight),
    left !== undefined && left >= 100 && `${durationText(left)} left`,
    ...counts.map(({ noun, done, of }) =>
      of === undefined ? countText(done, noun) : `${numberText(done)}/${countText(of, noun)}`,
    ),
    note,
    rate > 0 && rateText(rate, unit),
  ]
    .filter(Boolean)
    .join(" · ");
}

function rateText(rate: number, unit: Progress["unit"]): string {
  if (unit === "byte") return `${bytesText(Math.round(rate))}/s`;
  return `${rate < 10 ? Number(rate.toPrecision(2)) : numberText(Math.round(rate))} ${unit}s/s`;
}

/** The progress as JSON. */
function factsOf({ step, done, of, unit, rate, counts = [], share, left, requests }: Measured, elapsed: number) {
  return {
    step,
    done: Math.round(done),
    of: of === undefined || of === Number.POSITIVE_INFINITY ? null : Math.round(of),
    unit,
    per_second: Math.round(rate * 10) / 10,
    share: share ?? null,
    counts: {
      ...Object.fromEntries(counts.flatMap(namedCounts)),
      ...(requests && { requests: requests.sent, in_flight: requests.inFlight }),
    },
    elapsed_seconds: secondsFrom(elapsed),
    remaining_seconds: secondsFrom(left),
    silent_seconds: secondsFrom(requests?.silent),
  } satisfies ProgressFacts;
}

function namedCounts({ noun, done, of }: Count): readonly (readonly [string, number])[] {
  const name = `${noun.replaceAll(" ", "_")}s`;
  return of === undefined ? [[name, done]] : [[name, of] as const, [`${name}_done`, done] as const];
}

/**
 * The progress of a run, measured in pages and child lists. Documents of unknown size count as average ones. Documents read by an
 * earlier process do not count.
 */
export function progressOfRun(runProgress: RunProgress, now = performance.now()): Progress {
  const { documents, documentsDone, documentsBegun, documentsFailed, pagesExpected, pagesDone, requests } = runProgress;
  const ahead = Math.max(0, documents - documentsBegun - documentsFailed - runProgress.documentsFound);
  const expected = pagesExpected + (documentsBegun > 0 ? (ahead * pagesExpected) / documentsBegun : 0);
  const isMeasured = documentsBegun > 0 && expected > 0;
  const isRead = documents > 0 && documentsDone >= documents;
  return {
    step: runProgress.step,
    unit: "request",
    done: isMeasured ? pagesDone : 0,
    of: isMeasured ? expected : isRead ? 0 : undefined,
    counted: requests.answered + runProgress.requestsElsewhere,
    counts: [
      ...(documents > 0 ? [{ noun: "document", done: documentsDone, of: documents }] : []),
      { noun: "chunk", done: runProgress.chunks },
      { noun: "child chunk", done: runProgress.child_chunks },
    ],
    requests: {
      sent: requests.sent + runProgress.requestsElsewhere,
      inFlight: requests.inFlight,
      silent: silentTime(requests, now),
    },
  };
}

/** Renders the progress of a run or its plan, starting with its shard. */
export function renderRun(runProgress: RunProgress, shard?: ShardNumber): Rendering {
  return renderWork(() => {
    const progress = progressOfRun(runProgress);
    return shard ? within(shardText(shard), progress) : progress;
  });
}

/** Prefixes the step with the step of a larger task: `proving · listing documents`. */
export function within(step: string, progress: Progress): Progress {
  return { ...progress, step: progress.step === readingDocuments ? step : `${step} · ${progress.step}` };
}

/** Renders what is read, in bytes by default, or the dump that is made for it. */
export function renderReading(
  progress: ReadProgress & { readonly dump?: RunProgress | undefined },
  unit: Progress["unit"] = "byte",
): Rendering {
  return renderWork(() => {
    const { step, expected, done, dump } = progress;
    if (dump !== undefined) return within(step, progressOfRun(dump));
    return { step, done, of: expected > 0 ? expected : undefined, unit };
  });
}

/** Mention a wait without answers after this many milliseconds. */
const long = 10_000;

/** Milliseconds since the last answer while requests wait for one; undefined if too short to mention. */
export function silentTime(
  { silentSince }: Pick<RunProgress["requests"], "silentSince">,
  now: number,
): number | undefined {
  if (silentSince === undefined || now - silentSince < long) return undefined;
  return now - silentSince;
}

/** `waiting 50 s for 3 answers`; `waiting 50 s for the service` if none is in flight, because it is down. */
export function waitingText(milliseconds: number, answers: number): string {
  const seconds = Math.round(milliseconds / 1_000);
  const time = seconds < 60 ? `${seconds} s` : durationText(seconds * 1_000);
  return `waiting ${time} for ${answers === 0 ? "the service" : countText(answers, "answer")}`;
}

/** A bar, and as much text as fits next to it. */
function renderBarLine(share: number | undefined, text: string, { columns, paint }: Screen): string {
  const bar = renderBar(share, columns < 100 ? 12 : 24);
  const room = columns - 1;
  if (room < bar.length + 3) return paint.good(cutToWidth(bar, room));
  return `${paint.good(bar)}  ${cutToWidth(text, room - bar.length - 2)}`;
}

/** `━━━━━╌╌╌╌╌ 50 %`, always of the same width. */
export function renderBar(share: number | undefined, width = 24): string {
  const full = Math.floor((share ?? 0) * width);
  const percent = share === undefined ? "" : percentText(share);
  return `${"━".repeat(full)}${"╌".repeat(width - full)} ${percent.padStart(5)}`;
}

function percentText(share: number): string {
  return `${Math.floor(share * 100)} %`;
}
