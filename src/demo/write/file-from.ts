import { invalidParam, Refusal } from "../refusal.js";
import type { IncomingFile } from "../store/file-store.js";

/** The one file of a form. Throws a 400 for none, for more than one, and for one without a name. */
export async function fileFrom(form: FormData): Promise<IncomingFile> {
  const [file, ...others] = [...form.values()].filter((value) => typeof value !== "string");
  if (!file || !form.has("file")) throw new Refusal(400, "no_file_uploaded", "Please upload your file.");
  if (others.length > 0) throw new Refusal(400, "too_many_files", "Only one file is allowed.");
  if (file.name.trim() === "") throw invalidParam("The specified filename does not exist.");
  const bytes = Buffer.from(await file.arrayBuffer());
  return { name: file.name, mimeType: file.type || "application/octet-stream", bytes };
}
