/** A stretch of time with one number in flight, as far as it is measured. */
export interface Window {
  readonly level: number;
  readonly opened: number;
  begun: number | undefined;
  settled: number;
  longest: number;
  answers: number;
  readonly times: number[];
  work: number;
  /** The most work a millisecond that one request after the other could get done: by the kind whose quickest answer was worth most. */
  single: number;
  sent: number;
  full: number;
}

/** One that was opened at this moment, with nothing measured yet. */
export function emptyWindow(level: number, opened: number): Window {
  const counts = { settled: 0, longest: 0, answers: 0, work: 0, single: 0, sent: 0, full: 0 };
  return { level, opened, begun: undefined, times: [], ...counts };
}
