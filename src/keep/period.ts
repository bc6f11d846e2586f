/** The time that a run id names, such as `20261120T020000123Z`, in milliseconds since 1970; undefined for any other text. */
export function timeOfRun(runId: string): number | undefined {
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z$/.exec(runId)?.slice(1);
  if (!parts) return undefined;
  const [year, month, day, hour, minute, second, millisecond] = parts;
  const text = `${year}-${month}-${day}T${hour}:${minute}:${second}.${millisecond}Z`;
  const time = new Date(text);
  // A day that a month does not have would be taken for one of the next month.
  return Number.isNaN(time.getTime()) || time.toISOString() !== text ? undefined : time.getTime();
}

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
