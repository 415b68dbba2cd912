import { isUtf8 } from 'node:buffer';

/** A character at most is cut at the end of what is kept, and takes four bytes. */
const longestCharacterBytes = 4;
/** Most of a body that is no text that is kept, bytes: it is told apart by its first. */
const binaryProofBytes = 1024;

/** Text as it is; bytes that are none as a data URL, so that they can be looked at. */
export function proofText(bytes: Buffer): string {
  for (let cut = 0; !bytes.includes(0) && cut < longestCharacterBytes && cut <= bytes.length; cut += 1) {
    const text = bytes.subarray(0, bytes.length - cut);
    if (isUtf8(text)) return text.toString('utf8');
  }
  return `data:application/octet-stream;base64,${bytes.subarray(0, binaryProofBytes).toString('base64')}`;
}
