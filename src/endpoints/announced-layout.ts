import { type JsonObject, positiveInteger } from './json-values.ts';
import type { SampleLayout } from './sound-stream.ts';

/** How raw PCM without a header is read where the server says nothing: the client's settings. */
export type PcmDefaults = { readonly sampleRateHz: number; readonly channels: number };

/** How bare samples lie, and which of the server's words about it are no figures. */
export type AnnouncedLayout = {
  readonly layout: SampleLayout;
  /** For the reader of the report; `null` = every word was understood. */
  readonly doubt: string | null;
};

/** A figure that a server gave, if any, and what is taken in its place where it means nothing. */
type Said = { readonly what: string; readonly value: unknown; readonly instead: number };

/** @returns the figure and no doubt, or the replacement and the doubt where something was said that is no figure */
export function announcedFigure({ what, value, instead }: Said): { figure: number; doubt: string | null } {
  if (value === undefined || value === null) return { figure: instead, doubt: null };
  const figure = positiveInteger(value);
  if (figure !== null) return { figure, doubt: null };
  const shown = JSON.stringify(value).slice(0, 40);
  return { figure: instead, doubt: `the server's ${what} ${shown} is no number above 0; read as ${instead}` };
}

/** Rate, channels and width of bare samples as far as the head of the reply says them. */
export function layoutOfHead(
  contentType: string,
  headers: ReadonlyMap<string, string>,
  defaults: PcmDefaults,
): AnnouncedLayout {
  const parameter = (...names: string[]): string | undefined => {
    for (const name of names) {
      const found = new RegExp(`;\\s*${name}\\s*=\\s*"?([^";\\s]*)`, 'i').exec(contentType)?.[1];
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const header = (...names: string[]): string | undefined =>
    names.map((name) => headers.get(name)).find((value) => value !== undefined);
  const format = header('x-sample-format');
  return layoutFrom(
    {
      rate:
        parameter('rate', 'samplerate', 'sample_rate') ??
        header('x-sample-rate', 'x-audio-sample-rate', 'sample-rate'),
      channels: parameter('channels') ?? header('x-channels', 'x-audio-channels'),
      // `s16le`: what holds no number is shown as it is.
      bits: /\d+/.exec(format ?? '')?.[0] ?? format,
    },
    defaults,
  );
}

/** Rate and channels as an event of a stream says them. */
export function layoutOfEvent(message: JsonObject, defaults: PcmDefaults): AnnouncedLayout {
  const rate = message.sample_rate ?? message.sample_rate_hz;
  return layoutFrom({ rate, channels: message.channels, bits: undefined }, defaults);
}

function layoutFrom(
  said: { readonly rate: unknown; readonly channels: unknown; readonly bits: unknown },
  defaults: PcmDefaults,
): AnnouncedLayout {
  const rate = announcedFigure({ what: 'sample rate', value: said.rate, instead: defaults.sampleRateHz });
  const channels = announcedFigure({
    what: 'number of channels',
    value: said.channels,
    instead: defaults.channels,
  });
  const bits = announcedFigure({ what: 'sample width in bits', value: said.bits, instead: 16 });
  const doubts = [rate, channels, bits].flatMap(({ doubt }) => (doubt === null ? [] : [doubt]));
  return {
    layout: { sampleRateHz: rate.figure, channels: channels.figure, sampleBytes: bits.figure / 8 },
    doubt: doubts.length === 0 ? null : doubts.join('; '),
  };
}
