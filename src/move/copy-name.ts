/**
 * The name of a copy that is made of the file of a document: the service names a document by its file, and reads the file by the
 * ending of that name. Where the document was renamed to something with another ending, the copy has the name of the file.
 */
export function copyName(documentName: string, fileName: string): string {
  return endingOf(documentName) === endingOf(fileName) ? documentName : fileName;
}

function endingOf(name: string): string {
  return /\.[^.]*$/.exec(name)?.[0].toLowerCase() ?? "";
}
