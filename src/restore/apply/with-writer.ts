import { openWriter, type Writer, type WriterOptions } from "../../client/write/writer.js";

export type { Writer, WriterOptions };

/** Opens the writer for as long as the work takes. Nothing else in the program opens one. */
export async function withWriter<T>(options: WriterOptions, work: (writer: Writer) => Promise<T>): Promise<T> {
  const writer = openWriter(options);
  try {
    return await work(writer);
  } finally {
    await writer.close();
  }
}
