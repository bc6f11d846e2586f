import { emptyStretch, leastOf, mostOf, rateOf, type Stretch, shareOf } from "./stretch.js";

/** Refusals without a word how long to wait, that come whatever the rate: a flaky gateway, not a limit. Pure. */

/** Answers to requests sent behind a refused one, and the share let through, that make a limit unlikely; fewer if all are. */
const behind = 4;
const behindAll = 3;
const mostlyLetThrough = 0.6;
/** Refusals that a share can be told from; twice as many after each time that it was told wrongly. */
const telling = 3;
const mostTelling = 24;
/** As many times that would come in a trial, were they as many as before, at which fewer say that the rate matters. */
const conclusive = 4;
/** The share of before that is still there: in a trial at half the rate, and behind the pauses of a rate found slowly. */
const [stillInTrial, stillBehindPauses] = [1 / 3, 1 / 2];
/** A smaller share may be that of a limit, unless twice as many refusals tell of it; a larger one is too much. */
const leastShare = 0.04;
const leastOfMany = 0.015;
const mostShare = 0.4;
/** Refusals in a row that are a limit, and those after which a known share is no excuse any more. */
const wall = 5;
const wallInSpite = 8;
/** Forgiven are so many times the share, and so many at once. */
const leeway = 1.5;
const mostCredit = 15;
/** Answers until the share is tried again, doubled every time. */
const firstRecheck = 200;
const lastRecheck = 3_200;
/** Requests from whose times the rate in use is told, and answers among which some are to requests behind a refused one. */
const recent = 16;

type Mode =
  | { readonly kind: "watching" }
  /** At half the rate, to see whether that helps. */
  | { readonly kind: "trial"; readonly before: Stretch; readonly inUse: number; readonly since: number }
  | { readonly kind: "forgiving"; readonly share: number; readonly recheck: number; credit: number };

/**
 * Looks at the share of refusals before and after a slowing down. Where requests behind a refused one are let through, half
 * the rate is tried; where pauses have slowed the run down anyway, that is the trial. A share that stays is forgiven from
 * then on, and looked at again from time to time; more refusals than that are a limit as ever.
 */
export class RefusalShare {
  #mode: Mode = { kind: "watching" };
  #now = emptyStretch(Number.POSITIVE_INFINITY);
  #faster: Stretch | undefined;
  #recheck = firstRecheck;
  #telling = telling;
  #inARow = 0;
  /** Refusals behind which others were let through, since the last trial. */
  #soft = 0;
  /** When the request was sent whose refusal began the pause that is on. */
  #suspect: number | undefined;
  readonly #places: number[] = [];
  readonly #answers: { readonly sentAt: number; readonly accepted: boolean }[] = [];

  /** Requests a second that are sent at the most, for the sake of a trial. */
  get cap(): number {
    return this.#mode.kind === "trial" ? this.#mode.inUse / 2 : Number.POSITIVE_INFINITY;
  }

  sent(now: number): void {
    this.#places.push(now);
    if (this.#places.length > recent) this.#places.shift();
  }

  /**
   * forgiven: the pause that is on has no reason. A number: a trial has shown that the rate matters, and this is the one
   * that was too high. No two requests are sent at the same moment.
   */
  accepted(sentAt: number, now: number): "forgiven" | number | undefined {
    this.#remember(sentAt, true);
    if (this.#mode.kind === "trial") {
      if (sentAt >= this.#mode.since) this.#now.answers++;
      return this.#endTrial(this.#mode);
    }
    this.#now.answers++;
    if (this.#mode.kind === "forgiving") return this.#earn(this.#mode, now);
    return this.#isForgiven(now) ? "forgiven" : undefined;
  }

  /** Whether the refusal is no reason to pause, or to any slowness of before; `isFirst`: no pause is on yet. */
  refused(sentAt: number, now: number, isFirst: boolean): "no reason" | "never was" | undefined {
    this.#remember(sentAt, false);
    if (this.#mode.kind === "trial") return this.#refusedInTrial(this.#mode, sentAt);
    this.#now.answers++;
    this.#now.refused++;
    if (this.#mode.kind === "forgiving") {
      this.#mode.credit--;
      if (this.#mode.credit >= 0 && this.#inARow < wallInSpite) return "no reason";
      this.#wasWrong(Number.POSITIVE_INFINITY);
      return undefined;
    }
    if (this.#inARow >= wall) this.#now.isWall = true;
    if (!isFirst) return undefined;
    this.#now.incidents++;
    this.#suspect = sentAt;
    if (this.#wentOnBehindPauses()) return "never was";
    if (this.#soft > 0 && this.#inARow === 1) return this.#forgiveOnce(now);
    return this.#isForgiven(now) ? "no reason" : undefined;
  }

  /** The rate has been changed behind a pause. */
  slowedTo(rate: number): void {
    this.#suspect = undefined;
    this.#soft = 0;
    if (this.#mode.kind !== "watching" || rate > this.#now.rate / 2) return;
    this.#faster = this.#now;
    this.#now = emptyStretch(rate);
  }

  #remember(sentAt: number, accepted: boolean): void {
    this.#inARow = accepted ? 0 : this.#inARow + 1;
    this.#answers.push({ sentAt, accepted });
    if (this.#answers.length > recent) this.#answers.shift();
  }

  #wasWrong(rate: number): void {
    this.#telling = Math.min(mostTelling, 2 * this.#telling);
    this.#mode = { kind: "watching" };
    this.#now = emptyStretch(rate);
    [this.#faster, this.#suspect, this.#soft] = [undefined, undefined, 0];
  }

  #forgive(share: number): void {
    this.#mode = { kind: "forgiving", share, recheck: this.#recheck, credit: mostCredit };
    this.#recheck = Math.min(lastRecheck, 2 * this.#recheck);
    this.#now = emptyStretch(Number.POSITIVE_INFINITY);
    this.#suspect = undefined;
  }

  #try(now: number): void {
    const inUse = rateOf(this.#places);
    this.#mode = { kind: "trial", before: this.#now, inUse, since: now };
    this.#now = emptyStretch(inUse / 2);
  }

  #earn(mode: Extract<Mode, { kind: "forgiving" }>, now: number): undefined {
    mode.credit = Math.min(mostCredit, mode.credit + leeway * mode.share);
    if (this.#now.answers >= mode.recheck && this.#now.refused >= this.#telling) this.#try(now);
  }

  /** Whether the requests sent behind the refused one show that it says nothing of the rate. */
  #isForgiven(now: number): boolean {
    const suspect = this.#suspect;
    if (suspect === undefined) return false;
    const later = this.#answers.filter(({ sentAt }) => sentAt > suspect);
    const letThrough = later.filter(({ accepted }) => accepted).length;
    const isSoft = letThrough >= (later.length < behind ? later.length : mostlyLetThrough * later.length);
    if (later.length < behindAll || !isSoft) return false;
    this.#forgiveOnce(now);
    return true;
  }

  #forgiveOnce(now: number): "no reason" {
    this.#suspect = undefined;
    this.#soft++;
    if (this.#soft >= this.#telling) this.#try(now);
    return "no reason";
  }

  #refusedInTrial(mode: Extract<Mode, { kind: "trial" }>, sentAt: number): "no reason" | undefined {
    if (sentAt < mode.since) return "no reason";
    this.#now.answers++;
    this.#now.refused++;
    if (this.#inARow >= wall || shareOf(this.#now) > Math.max(mostShare, 8 / this.#now.answers)) {
      this.#wasWrong(Number.POSITIVE_INFINITY);
      return undefined;
    }
    this.#endTrial(mode);
    return "no reason";
  }

  #endTrial({ before, inUse }: Extract<Mode, { kind: "trial" }>): number | undefined {
    const expected = this.#now.answers * shareOf(before);
    const share = shareOf(this.#now);
    const stays = this.#now.refused >= telling && expected >= telling && share >= stillInTrial * shareOf(before);
    if (stays && share <= mostShare) {
      const answers = this.#now.answers + before.answers;
      this.#forgive(mostOf(answers, this.#now.refused + before.refused));
    } else if (expected >= conclusive * this.#telling) {
      this.#wasWrong(inUse);
      return inUse;
    }
    return undefined;
  }

  /** Whether as many are refused as before pauses have slowed the run down. */
  #wentOnBehindPauses(): boolean {
    const [now, faster] = [this.#now, this.#faster];
    if (!faster || faster.isWall || now.incidents < this.#telling) return false;
    const share = now.incidents / now.answers;
    const least = now.incidents < 2 * this.#telling ? leastShare : leastOfMany;
    if (share < Math.max(least, stillBehindPauses * leastOf(faster)) || share > mostShare) return false;
    this.#faster = undefined;
    this.#forgive(mostOf(now.answers, now.incidents));
    return true;
  }
}
