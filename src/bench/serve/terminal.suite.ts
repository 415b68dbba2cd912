/** A terminal of a test: keeps what is said, and is no TTY. */
export function terminal() {
  const lines: string[] = [];
  const errors: string[] = [];
  const io = {
    stdout: (line: string) => void lines.push(line),
    stderr: (line: string) => void errors.push(line),
    redraw: () => {},
    settle: () => {},
    isTty: false,
    columns: 100,
    onInterrupt: () => {},
  };
  return { io, lines, errors };
}
