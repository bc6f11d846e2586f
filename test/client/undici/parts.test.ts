import { createRequire } from "node:module";
import * as undici from "undici";
import { expect, test } from "vitest";
import * as parts from "../../../src/client/undici/parts.js";

const require = createRequire(import.meta.url);

test("the parts are those of the entry of undici", () => {
  const { buildConnector, Dispatcher, EnvHttpProxyAgent, errors, Pool } = undici.default;
  expect(parts).toMatchObject({ buildConnector, Dispatcher, EnvHttpProxyAgent, errors, Pool });
});

/** What `loadParts` asks for where the files of undici give what `load` gives, and the pool that it finds. */
function partsWith(load: (name: string) => unknown): readonly [asked: readonly string[], pool: unknown] {
  const asked: string[] = [];
  const loadFile = (name: string) => {
    asked.push(name);
    return name.startsWith("undici/lib/") ? load(name) : require(name);
  };
  const { Pool } = parts.loadParts(Object.assign(loadFile, require));
  return [asked, Pool];
}

test("the entry is loaded where undici has other files", () => {
  const load = (name: string) => {
    throw new Error(`Cannot find module '${name}'`);
  };
  expect(partsWith(load)).toEqual([["undici/lib/core/connect", "undici"], undici.Pool]);
});

test("the entry is loaded where a file of undici gives something else", () => {
  const load = (name: string) => (name.endsWith("/pool") ? { Pool: require(name) } : require(name));
  const [asked, pool] = partsWith(load);
  expect([asked.at(-1), pool]).toEqual(["undici", undici.Pool]);
});
