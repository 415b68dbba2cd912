/** One content part of a chat message, sent as it stands: text, image_url, audio_url, input_audio, video_url. */
export type ContentPart = { readonly type: string; readonly [field: string]: unknown };

/** One chat message as the dataset made it, sent as it stands. */
export type ChatMessage = {
  readonly role: string;
  readonly content: string | readonly ContentPart[];
  readonly [field: string]: unknown;
};

/** What a live conversation hears and sees: streamed in real time over a session instead of sent in a body. */
export type LiveInput = {
  /** Mono 16-bit little-endian PCM. */
  readonly pcm: Uint8Array;
  readonly sampleRateHz: number;
  /** JPEG files, one for each second from the start on; `null` = none could be decoded for that second. */
  readonly frames: readonly (Uint8Array | null)[];
  /** Length of the recording, s; the sound is padded to whole seconds. */
  readonly durationS: number;
  /** A WAV file of the voice to answer with, or `null` to leave it to the server. */
  readonly refAudio: Uint8Array | null;
  /** Most time the session may take beside the recording itself, s; absent = 900. */
  readonly timeoutS?: number;
  /** Fails a session that answers nothing aloud; absent = listening is a success. */
  readonly requireResponse?: boolean;
  /** Plain data by which the dataset finds the case again when its result is written. */
  readonly caseFacts: Readonly<Record<string, unknown>>;
};

/** One request as a dataset describes it, before any endpoint has seen it. Immutable. */
export type Sample = {
  /** Text to send; a list for batched pooling and rerank requests. */
  readonly prompt: string | readonly string[];
  /** Length of the prompt in tokens as the client counts it, or `null` where no tokenizer could count. */
  readonly promptTokens: number | null;
  /** Tokens asked for; `null` leaves the length to the server. */
  readonly expectedOutputTokens: number | null;
  /** Media to send with the prompt. */
  readonly media: readonly ContentPart[];
  /** Where media parts stand in the message. */
  readonly mediaPosition?: 'first' | 'last';
  /** Messages that replace the prompt in chat endpoints. */
  readonly chatMessages?: readonly ChatMessage[];
  /** Body fields of this request only; they win over the run's `--extra-body`. */
  readonly bodyOverrides?: Readonly<Record<string, unknown>>;
  /**
   * The body of a recorded request, sent as it stands in place of what the endpoint would build; only `model` becomes
   * the run's.
   */
  readonly recordedBody?: Readonly<Record<string, unknown>>;
  /** Headers of this request only; they win over the run's. */
  readonly headers?: readonly (readonly [string, string])[];
  /** Sent as `x-request-id`; unique in a run. */
  readonly requestId: string | null;
  /** Due time of a trace replay in seconds after the first, or absent. */
  readonly traceTimestampS?: number;
  /** A live conversation in place of a prompt. */
  readonly live?: LiveInput;
  /** An earlier run of the same command has done it: it is not sent, and its media were not loaded. */
  readonly finishedBefore?: true;
  /** Length of the audio sent, for RTFx. */
  readonly inputAudioDurationS?: number;
};
