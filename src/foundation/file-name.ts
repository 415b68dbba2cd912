/** Whether a name stays in the folder that it is joined to: no separators, no control characters, no `.` or `..`. */
export function isFileName(name: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no name of a file has any
  return !/[/\\\u0000-\u001f]|^\.+$/.test(name);
}
