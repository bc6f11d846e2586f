/** Milliseconds for which the broker keeps a place for whoever took or renewed it last. */
export const leaseTime = 5_000;
/** Milliseconds before its end from which on a lease is not used any more. */
const margin = 500;

/**
 * A moment on both clocks of this machine: the steady one stands still while the machine sleeps, the other one can be set. Neither is
 * ever compared with the clock of another machine.
 */
export interface Moment {
  readonly steady: number;
  readonly wall: number;
}

export type Clock = () => Moment;

export const realClock: Clock = () => ({ steady: performance.now(), wall: Date.now() });

/**
 * Whether a place that was taken or renewed is certainly still ours. `asked`: the moment right before the request to the broker was sent, so
 * that the broker keeps the place for longer than this says.
 */
export function isSure(asked: Moment, now: Moment): boolean {
  const time = leaseTime - margin;
  return now.steady - asked.steady < time && now.wall - asked.wall < time;
}
