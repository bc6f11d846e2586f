const { KBDUMP_FREEZE_ROUNDS, KBDUMP_FREEZE_SEED } = process.env;

/** The number of freeze rounds; `npm run test:faults` sets 500. */
export const freezeRounds = Number(KBDUMP_FREEZE_ROUNDS ?? 20);

/**
 * The seed for the rounds. It is fixed in `npm run test:long`, so that a failure repeats, and random if
 * KBDUMP_FREEZE_ROUNDS is set. The same schedule may still end differently on another machine.
 */
export const freezeSeed = Number(
  KBDUMP_FREEZE_SEED ?? (KBDUMP_FREEZE_ROUNDS === undefined ? 1 : Date.now() % 1_000_000),
);

/** How many milliseconds all rounds may take on a busy machine. */
export const roundTimeout = 120_000 + freezeRounds * 30_000;

/** Names a round and the seed that repeats it, for failure texts. */
export function roundText(round: number): string {
  return `round ${round} of KBDUMP_FREEZE_SEED=${freezeSeed}`;
}
