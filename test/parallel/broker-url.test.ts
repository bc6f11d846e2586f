import fc from "fast-check";
import { expect, test } from "vitest";
import { UsageError } from "../../src/errors.js";
import { brokenBrokerRule, openBroker, shownBroker } from "../../src/parallel/broker.js";

test.each([
  ["", /it begins with redis:\/\//],
  ["redis:", /it begins with redis:\/\//],
  ["http://127.0.0.1:6379", /it begins with redis:\/\//],
  ["127.0.0.1:6379", /it begins with redis:\/\//],
  ["redis://", /it names no host/],
  ["redis://host:99999", /its host or port cannot be read/],
  ["redis://team:top/secret@host:6379", /write \/ # \? and @ as %2F/],
  ["redis://team:top#secret@host:6379", /write \/ # \? and @ as %2F/],
  ["redis://team:top?secret@host:6379", /write \/ # \? and @ as %2F/],
  ["redis://team:top%secret@host:6379", /write % as %25/],
  ["redis://team:secret@host:6379/first", /the number of a database, or nothing/],
  ["redis://team:secret@host:6379/0/1", /the number of a database, or nothing/],
  ["redis://team:secret@host:6379?tls=secret", /ends with the host or the number/],
  ["redis://team:secret@host:6379#secret", /ends with the host or the number/],
])("%j is refused, and not repeated", async (text, rule) => {
  const error: unknown = await openBroker(text).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(UsageError);
  expect(String(error)).toMatch(/^UsageError: this is not an address of a broker: expected redis:\/\/host:6379; /);
  expect(String(error)).toMatch(rule);
  expect(brokenBrokerRule(text)).not.toMatch(/secret|team/);
});

test.each([
  ["redis://127.0.0.1:6379", "redis://127.0.0.1:6379"],
  ["REDIS://Host", "redis://host"],
  ["redis://host/", "redis://host"],
  ["redis://host:6379/15", "redis://host:6379/15"],
  ["rediss://team:secret@host:6380/2", "rediss://host:6380/2"],
  ["redis://:top%2Fsecret@[::1]:6379", "redis://[::1]:6379"],
])("%j is shown as %j", (text, shown) => {
  expect(brokenBrokerRule(text)).toBeUndefined();
  expect(shownBroker(text).toLowerCase()).toBe(shown);
});

test("no user and no password is ever shown, whatever its characters", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (user, password) => {
      const url = `redis://${encodeURIComponent(user)}:${encodeURIComponent(password)}@host:6379/1`;
      expect(brokenBrokerRule(url)).toBeUndefined();
      expect(shownBroker(url)).toBe("redis://host:6379/1");
    }),
  );
});
