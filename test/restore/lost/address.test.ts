import { expect, test } from "vitest";
import { UsageError } from "../../../src/errors.js";
import { addressOf } from "../../../src/restore/lost/restore-lost.js";

const run = "https://kb.example.com/v1";
const own = (url: string) => ({ url, place: "nightly.yaml" });

test.each([
  ["the one that the run came from", { to: undefined, own: undefined }, run],
  ["the same, where the settings name its host", { to: undefined, own: own("https://KB.example.com/other/v1") }, run],
  [
    "the one that was named, whatever the settings say",
    { to: "https://new.example.com/v1/", own: own(run) },
    "https://new.example.com/v1",
  ],
])("%s", (_, options, address) => {
  expect(addressOf(run, options)).toBe(address);
});

test.each(["https://other.example.com/v1", "http://kb.example.com/v1", "https://kb.example.com:8443/v1", "no address"])(
  "a run that came from another host than %s is refused",
  (url) => {
    const restore = () => addressOf(run, { to: undefined, own: own(url) });
    expect(restore).toThrow(UsageError);
    expect(restore).toThrow(
      `the run came from ${run}, and nightly.yaml names ${url}; name the service to restore to with --to`,
    );
  },
);
