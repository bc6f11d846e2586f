/** A place among the requests in flight of all processes that read one service. */
export interface SharedPlace {
  /** Whether the place is certainly ours at this moment. Once it is not, another process may have it: nothing is sent any more. */
  readonly isSure: () => boolean;
  /** Gives the place back, once the answer is in. */
  readonly leave: () => void;
}

/** The bounds to which all processes that read one service keep together. */
export interface SharedBounds {
  /** Resolves with a place as soon as this process has one. Rejects with the reason of the signal. */
  readonly enter: (signal: AbortSignal) => Promise<SharedPlace>;
  /** Requests a second that this process may send at this moment: 0 without a place; Infinity without a bound. */
  readonly rate: () => number;
  /** Says that this rate holds a request back, so that a larger share of it is of use. */
  readonly slowed: () => void;
  /** Lets all other processes wait so many milliseconds, because the service refused a request. */
  readonly pause: (milliseconds: number) => void;
  /** Calls the listener with the milliseconds to wait whenever another process met a refusal. */
  readonly onPause: (listener: (milliseconds: number) => void) => void;
}
