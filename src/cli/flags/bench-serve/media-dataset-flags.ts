import type { FlagTable } from '../flag.ts';

/** Which media go with prompts, and requests that were recorded (omni §2, upstream §2.4). */
export const mediaDatasetFlags = {
  'random-mm-base-items-per-request': {
    group: 'Dataset random-mm',
    kind: 'int',
    default: 1,
    min: 0,
    doc: 'Media items of a request, around which their number is drawn.',
  },
  'random-mm-num-mm-items-range-ratio': {
    group: 'Dataset random-mm',
    kind: 'float',
    default: 0,
    doc: 'Spread of the number of items: uniform in items × (1 ± ratio), 0 ≤ ratio ≤ 1. At most as many as the limits allow; it is an error where even the fewest are more.',
  },
  'random-mm-limit-mm-per-prompt': {
    group: 'Dataset random-mm',
    kind: 'json',
    default: null,
    defaultDoc: '{"image": 255, "video": 1}',
    doc: 'Most items of each modality (image, video, audio) in a request. A modality that is full drops out, and the others share its probability.',
  },
  'random-mm-bucket-config': {
    group: 'Dataset random-mm',
    kind: 'string',
    takesObject: true,
    default: null,
    placeholder: 'DICT',
    defaultDoc: '{(256, 256, 1): 0.5, (720, 1280, 1): 0.5, (720, 1280, 16): 0.0}',
    doc: 'Probabilities by kind of item: (height, width, 1) is an image, (height, width, frames) a video, (0, seconds, channels) a sound. JSON with keys in quotes, or a Python dict.',
  },
  'random-mm-video-encoder': {
    group: 'Dataset random-mm',
    kind: 'choice',
    choices: ['auto', 'ffmpeg', 'built-in'],
    default: 'auto',
    doc: 'What encodes videos: ffmpeg with libx264, as in the reference, or this program. They give other bytes for the same seed; auto takes ffmpeg where there is one, and says which it took.',
  },
  'random-mm-audio-mime': {
    group: 'Dataset random-mm',
    kind: 'choice',
    choices: ['audio/wav', 'audio/mpeg'],
    default: 'audio/wav',
    doc: 'As what WAV files are announced. The reference says audio/mpeg, which they are not.',
  },
  'enable-multimodal-chat': {
    group: 'Dataset',
    kind: 'boolean',
    default: false,
    doc: 'Make whole chat messages of text and media in the dataset; chat endpoints send the same either way.',
  },
  'custom-ensure-client-side-data': {
    group: 'Dataset custom',
    kind: 'boolean',
    default: false,
    doc: 'Load the media of custom_image and custom_audio here, from files and the web, and send them as data URLs. Else the server gets file:// and web addresses.',
  },
  'self-timed': {
    group: 'Dataset timed_trace, workload_trace',
    kind: 'boolean',
    default: null,
    defaultDoc: 'on for timed_trace, and for workload_trace where every row has a timestamp',
    doc: 'Send each request at the time that the trace has for it; --request-rate and the like then have no effect. --no-self-timed sends it at the request rate.',
  },
} as const satisfies FlagTable;
