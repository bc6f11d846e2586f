import { describe } from "vitest";
import { fileFormats, formatOf } from "../../../src/dump/formats/formats.js";
import { testFormat } from "./conformance.js";

describe.each(fileFormats)("the format %s", (format) => {
  testFormat(format, () => formatOf(format));
});
