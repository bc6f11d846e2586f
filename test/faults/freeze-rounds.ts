const { KBDUMP_FREEZE_ROUNDS, KBDUMP_FREEZE_SEED } = process.env;

/** Rounds of a freeze; `npm run test:faults` takes 500. */
export const freezeRounds = Number(KBDUMP_FREEZE_ROUNDS ?? 20);

/**
 * The seed of the rounds: the same in every `npm run test:long`, so that a failure comes again, and another each time where a number of
 * rounds is asked for. The same schedule can still end differently on another machine.
 */
export const freezeSeed = Number(
  KBDUMP_FREEZE_SEED ?? (KBDUMP_FREEZE_ROUNDS === undefined ? 1 : Date.now() % 1_000_000),
);

/** Milliseconds for all of them on a busy machine. */
export const roundTimeout = 120_000 + freezeRounds * 30_000;

/** A round in words. */
export function roundText(round: number): string {
  return `round ${round} of KBDUMP_FREEZE_SEED=${freezeSeed}`;
}
