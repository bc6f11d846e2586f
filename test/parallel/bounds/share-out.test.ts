import fc from "fast-check";
import { expect, test } from "vitest";
import { Demand, goesRound, isLacking, Standing, slotsToLease } from "../../../src/parallel/bounds/balance.js";
import { isSure, leaseTime } from "../../../src/parallel/bounds/board.js";

test.each([
  ["one alone", { concurrency: 8, members: 1, held: 0, wanted: 8, isLack: false }, [8, true]],
  ["two without lack", { concurrency: 8, members: 2, held: 7, wanted: 8, isLack: false }, [8, false]],
  ["two with lack", { concurrency: 8, members: 2, held: 7, wanted: 8, isLack: true }, [4, false]],
  ["shares are rounded down", { concurrency: 8, members: 3, held: 2, wanted: 8, isLack: true }, [2, false]],
  ["little use", { concurrency: 8, members: 2, held: 1, wanted: 1, isLack: true }, [1, false]],
  ["more processes than places", { concurrency: 8, members: 20, held: 0, wanted: 8, isLack: true }, [1, true]],
  ["no use", { concurrency: 8, members: 2, held: 3, wanted: 0, isLack: false }, [0, false]],
] as const)("%s", (_, shares, expected) => {
  expect([slotsToLease(shares), isLacking(shares)]).toEqual(expected);
});

const processes = fc.record({
  concurrency: fc.integer({ min: 1, max: 64 }),
  wanted: fc.array(fc.integer({ min: 1, max: 64 }), { minLength: 1, maxLength: 20 }),
  first: fc.integer({ min: 0, max: 19 }),
});

test("whoever begins with all places, in the end nobody lacks one who could have it, and no place is left that somebody wants", () => {
  fc.assert(
    fc.property(processes, ({ concurrency, wanted, first }) => {
      const wishes = wanted.map((wish) => Math.min(wish, concurrency));
      const held = wishes.map((_, index) => (index === first % wishes.length ? concurrency : 0));
      const sharesOf = (index: number, isLack: boolean) => {
        return { concurrency, members: held.length, held: held[index] ?? 0, wanted: wishes[index] ?? 0, isLack };
      };
      const lack = () => held.some((_, index) => isLacking(sharesOf(index, false)));
      for (let round = 0; round < 4; round++) {
        for (const index of held.keys()) {
          const free = concurrency - held.reduce((sum, count) => sum + count, 0);
          const most = slotsToLease(sharesOf(index, lack()));
          held[index] = Math.min(most, (held[index] ?? 0) + free);
        }
      }
      const total = held.reduce((sum, count) => sum + count, 0);
      expect(total).toBe(
        Math.min(
          concurrency,
          wishes.reduce((sum, wish) => sum + wish, 0),
        ),
      );
      if (held.length <= concurrency) expect(lack()).toBe(false);
    }),
  );
});

test("places go round only where there are more processes than places, and one waits", () => {
  const shares = { concurrency: 8, members: 9, held: 1, wanted: 8, isLack: true };
  expect(goesRound(shares)).toBe(true);
  for (const other of [{ members: 8 }, { isLack: false }, { held: 0 }])
    expect(goesRound({ ...shares, ...other })).toBe(false);
});

test("a demand counts for one to two seconds after it has gone, so that short breaks cost no place", () => {
  const demand = new Demand(8);
  demand.note(5, 10_000);
  demand.note(2, 10_500);
  expect([demand.at(10_900), demand.at(11_100), demand.at(12_150)]).toEqual([5, 5, 0]);
  demand.note(20, 12_200);
  expect(demand.at(12_200)).toBe(8);
});

test("whom the rate holds back has use for every place, for as long as it has requests", () => {
  const demand = new Demand(8);
  demand.slowed(10_000);
  expect(demand.at(10_000)).toBe(0);
  demand.note(1, 10_000);
  expect(demand.at(10_000)).toBe(8);
  demand.note(1, 12_100);
  expect(demand.at(12_100)).toBe(1);
});

test("a lease ends for its holder before it ends at the broker, by whichever clock is ahead", () => {
  const asked = { steady: 1_000, wall: 50_000 };
  const after = (steady: number, wall: number) => isSure(asked, { steady: 1_000 + steady, wall: 50_000 + wall });
  expect(after(leaseTime - 600, leaseTime - 600)).toBe(true);
  expect(after(leaseTime - 400, 0)).toBe(false);
  expect(after(0, leaseTime - 400)).toBe(false);
  expect(after(100, -3_600_000)).toBe(true);
});

test("a process goes alone only after some requests to the broker in vain, for longer than a lease", () => {
  const standing = new Standing(0);
  standing.missed(20_000); // frozen meanwhile
  expect(standing.isAlone(20_000)).toBe(false);
  standing.answered(20_010, 0);
  for (const now of [21_000, 23_000, 25_000, 27_000]) standing.missed(now);
  expect([standing.isAlone(27_000), standing.isGone, standing.isQuarantineDue(0, false)]).toEqual([
    false,
    false,
    false,
  ]);
  standing.missed(27_100);
  expect([standing.isAlone(27_100), standing.isGone, standing.isQuarantineDue(0, false)]).toEqual([true, true, true]);
  standing.answered(28_000, leaseTime, true);
  expect([standing.isAlone(28_000), standing.isGone, standing.isQuarantineDue(0, false)]).toEqual([
    false,
    false,
    false,
  ]);
});

test("nobody goes alone in a quarantine, unless the broker forgets again and again, and then not at its end", () => {
  const standing = new Standing(0);
  for (let now = 1_000; now < 16_000; now += 1_000) {
    standing.answered(now, leaseTime);
    expect(standing.isAlone(now)).toBe(false);
  }
  standing.answered(16_000, leaseTime);
  expect([standing.isAlone(16_000), standing.isAlone(17_990), standing.isAlone(18_010)]).toEqual([true, true, false]);
  expect(standing.isGone).toBe(false);
  standing.answered(19_500, 1_500);
  expect(standing.isAlone(19_500)).toBe(false);
  standing.answered(21_000, 0);
  expect([standing.isAlone(21_000), standing.isQuarantineDue(0, false)]).toEqual([false, false]);
});

test("a quarantine begins anew for a request that was sent alone and is still under way, and who began it goes alone no more", () => {
  const standing = new Standing(0);
  for (let now = 0; now <= 16_000; now += 1_000) standing.answered(now, leaseTime);
  expect([standing.isQuarantineDue(2_000, true), standing.isQuarantineDue(1_000, true)]).toEqual([false, true]);
  standing.answered(19_500, leaseTime, true);
  expect(standing.isAlone(19_500)).toBe(false);
  standing.answered(24_000, 500);
  expect(standing.isAlone(24_000)).toBe(false);
});
