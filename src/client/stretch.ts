/** Milliseconds without a request that can be a pause. */
const pauseLike = 900;

/** What was answered while at most so many requests a second were sent. */
export interface Stretch {
  readonly rate: number;
  answers: number;
  refused: number;
  /** Refusals that began a pause. */
  incidents: number;
  /** Whether one refusal came behind the other as they do at a limit. */
  isWall: boolean;
}

export const emptyStretch = (rate: number): Stretch => ({ rate, answers: 0, refused: 0, incidents: 0, isWall: false });
export const shareOf = ({ answers, refused }: Stretch) => (answers > 0 ? refused / answers : 0);
/** What the share is at the least and at the most, as far as so few refusals can tell. */
export const leastOf = ({ answers, refused }: Stretch) =>
  Math.max(0, refused - 2 * Math.sqrt(refused)) / Math.max(1, answers);
export const mostOf = (answers: number, refused: number) => (refused + 2 * Math.sqrt(refused)) / answers;

/** Requests a second, from the moments at which they were sent: without gaps as long as a pause, where these are few. */
export function rateOf(places: readonly number[]): number {
  const gaps = places.slice(1).map((place, index) => place - (places[index] ?? 0));
  const short = gaps.filter((gap) => gap < pauseLike);
  const usual = short.length > gaps.length / 2 ? short : gaps;
  return (
    (1000 * usual.length) /
    Math.max(
      1,
      usual.reduce((sum, gap) => sum + gap, 0),
    )
  );
}
