import { bytesText, countText, durationText, numberText } from "../amounts.js";
import { type RunProgress, readingDocuments } from "../job/run-progress.js";
import type { ReadProgress } from "../read-progress.js";
import { type ShardNumber, shardText } from "../words.js";
import { cutToWidth } from "./display-width.js";
import type { ProgressFacts } from "./log-schema.js";
import type { Rendering, Screen } from "./progress-view.js";
import { secondsFrom } from "./text.js";
import { type Count, type Measured, Pace, type Progress } from "./time-left.js";

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

/** Renders the reading of files, counted in bytes by default. While `dump` is set, renders the progress of that dump instead. */
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
