/** Mono 16-bit little-endian PCM. Several outputs may share one buffer, which nobody may write to. */
export type PcmAudio = { readonly samples: number; readonly sampleRateHz: number; readonly pcm: Buffer };
