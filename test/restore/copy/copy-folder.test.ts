import { expect, test } from "vitest";
import { copyFolderOf, plainBaseUrl } from "../../../src/restore/copy/copy-result.js";
import { isSameService } from "../../../src/restore/target.js";

test("the folder of a copy is named after host and port, in characters that every file system takes", () => {
  const names = [
    "https://KB.example.com/v1",
    "http://127.0.0.1:8080/v1",
    "http://[::1]:80/v1",
    "https://münchen.example/v1",
  ];
  expect(names.map((url) => copyFolderOf("runs/1", url))).toEqual([
    "runs/1.restore/to/kb.example.com",
    "runs/1.restore/to/127.0.0.1_8080",
    "runs/1.restore/to/___1_",
    "runs/1.restore/to/xn--mnchen-3ya.example",
  ]);
});

test("base URLs of one service", () => {
  expect(plainBaseUrl("https://kb.example.com/v1//")).toBe("https://kb.example.com/v1");
  expect(plainBaseUrl("HTTPS://KB.example.com:443/v1")).toBe("https://kb.example.com/v1");
  expect(isSameService("https://kb.example.com/v1", "https://KB.example.com:443/other")).toBe(true);
  expect(isSameService("https://kb.example.com/v1", "http://kb.example.com/v1")).toBe(false);
  expect(isSameService("no url", "https://kb.example.com/v1")).toBe(false);
});
