import { describe, expect, it } from 'vitest';
import { proofText } from './proof-text.ts';

describe('what is kept of a failed reply', () => {
  it('is its text', () => {
    expect(proofText(Buffer.from('{"error":"pas trouvé"}'))).toBe('{"error":"pas trouvé"}');
    expect(proofText(Buffer.alloc(0))).toBe('');
  });

  it('loses no more than the character that was cut', () => {
    const bytes = Buffer.from('aé😀');
    expect([7, 6, 5, 4, 3, 2, 1].map((length) => proofText(bytes.subarray(0, length)))).toEqual([
      'aé😀',
      'aé',
      'aé',
      'aé',
      'aé',
      'a',
      'a',
    ]);
  });

  it('is a data URL of the first kilobyte where it is no text', () => {
    const wav = Buffer.concat([Buffer.from('RIFF'), Buffer.alloc(3000, 0xff)]);
    const [head, base64 = ''] = proofText(wav).split(',');
    expect(head).toBe('data:application/octet-stream;base64');
    expect(Buffer.from(base64, 'base64')).toEqual(wav.subarray(0, 1024));
    expect(proofText(Buffer.from('a\0b'))).toBe('data:application/octet-stream;base64,YQBi');
  });
});
