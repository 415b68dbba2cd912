/** Offers a text to the user as a file. */
export function saveFile(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has taken the data when the click returns; some still read it in the next task.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
