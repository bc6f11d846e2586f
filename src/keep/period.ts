/** The period that a time lies in, all of them in UTC: `2026-11-20`, `2026-W47` (ISO 8601), `2026-11`. */
export const periodOf = {
  daily: (time: number) => new Date(time).toISOString().slice(0, 10),
  weekly: isoWeekOf,
  monthly: (time: number) => new Date(time).toISOString().slice(0, 7),
} as const;

const day = 86_400_000;

/** A week begins on Monday and belongs to the year that its Thursday lies in. */
function isoWeekOf(time: number): string {
  const sinceMonday = (new Date(time).getUTCDay() + 6) % 7;
  const thursday = new Date(time + (3 - sinceMonday) * day);
  const year = thursday.getUTCFullYear();
  const week = 1 + Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * day));
  return `${year}-W${String(week).padStart(2, "0")}`;
}
