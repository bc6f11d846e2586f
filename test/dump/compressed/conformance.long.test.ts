import { describe } from "vitest";
import { fileFormats, formatOf } from "../../../src/dump/formats/formats.js";
import { testFormat } from "../formats/conformance.js";

const compressions = ["gzip", "zstd"] as const;

const texts = fileFormats.filter((format) => formatOf(format).isText);
const cases = texts.flatMap((format) => compressions.map((compression) => ({ format, compression })));

describe.each(cases)("the format $format with $compression", ({ format, compression }) => {
  testFormat(format, () => formatOf(format), compression);
});
