/** Rounds of a freeze; `npm run test:faults` takes 500. */
export const freezeRounds = Number(process.env.KBDUMP_FREEZE_ROUNDS ?? 20);

/** What the rounds are drawn from. A schedule comes again with it; what the machine makes of it may differ. */
export const freezeSeed = Number(process.env.KBDUMP_FREEZE_SEED ?? Date.now() % 1_000_000);

/** Milliseconds for all of them on a busy machine. */
export const roundTimeout = 120_000 + freezeRounds * 30_000;

/** A round in words. */
export function roundText(round: number): string {
  return `round ${round} of KBDUMP_FREEZE_SEED=${freezeSeed}`;
}
